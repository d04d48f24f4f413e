import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  create,
  customResourceDefinitions,
  get,
  remove,
  type ApiClient,
  type ResourceType,
} from '../../src/kubernetes/index.ts';
import { digestOf, reportApis, reportName, reportOf } from '../../src/webhook/audit/report.ts';
import { ReportStore } from '../../src/webhook/audit/report-store.ts';
import { identityOf, resultsOf, type AuditResult } from '../../src/webhook/audit/result.ts';
import { eventually } from '../support/eventually.ts';
import { reportDefinitions } from '../support/report-definitions.ts';
import type { KubernetesGround } from './kubernetes.ts';

const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

function result(namespace: string, message: string): readonly AuditResult[] {
  return resultsOf(
    { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', namespace, name: 'cart', uid: randomUUID() },
    [{ rule: 'duration-form', path: ['spec', 'rules', 0], message, effect: 'deny', withheld: false }],
    () => 1_700_000_000,
  );
}

/** What the store of reports needs of an API server, and what the server makes of reports. */
export function reportStoreContract(name: string, prepare: () => Promise<KubernetesGround>): void {
  describe.each(reportApis)(`the reports $namespaced.apiVersion in ${name}`, (api) => {
    const namespace = `reports-${randomUUID().slice(0, 8)}`;
    let ground: KubernetesGround;
    let client: ApiClient;
    let store: ReportStore;

    beforeAll(async () => {
      ground = await prepare();
      ({ client } = ground);
      store = new ReportStore(client, new AbortController().signal);
      await create({ client, type: namespaces }, { metadata: { name: namespace } });
    });
    afterAll(async () => {
      for (const { metadata } of reportDefinitions(api))
        await remove({ client, type: customResourceDefinitions }, { name: metadata.name });
      await remove({ client, type: namespaces }, { name: namespace });
      await ground.close();
    });

    test('are found once their CRDs are installed', async () => {
      expect(await store.installed()).not.toContain(api);
      for (const definition of reportDefinitions(api))
        expect(await create({ client, type: customResourceDefinitions }, definition)).toHaveProperty('type', 'ok');
      await eventually(async () => expect(await store.installed()).toContain(api));
      // A real server needs a moment until it serves both new kinds.
      await eventually(async () => expect((await store.read(api)).digests.size).toBe(0));
    });

    test.each([
      ['a namespace', namespace, api.namespaced],
      ['the cluster', '', api.cluster],
    ])('of %s are stored as written, replaced, read and removed', async (_what, place, type) => {
      const read = async () => (await store.read(api)).digests.get(place);
      const target = { name: reportName, ...(place !== '' && { namespace: place }) };
      const first = reportOf(api, place, [...result(place, 'One.'), ...result(place, 'Two.')]);
      // A real server needs a moment until a new kind takes writes.
      await eventually(async () => expect(await store.write(api, first)).toHaveProperty('type', 'ok'));
      expect(await read()).toBe(digestOf(first));

      const results = result(place, 'Three.');
      const second = reportOf(api, place, results);
      expect(await store.write(api, second)).toHaveProperty('type', 'ok');
      expect(await read()).toBe(digestOf(second));
      expect((await store.read(api)).times).toEqual(new Map(results.map((one) => [identityOf(one), 1_700_000_000])));
      // Nothing that was written is dropped.
      const stored = await get({ client, type }, target);
      expect(stored).toMatchObject({ type: 'ok', object: { summary: second['summary'], results: second['results'] } });

      expect(await store.remove(api, place)).toHaveProperty('type', 'ok');
      await eventually(async () => expect(await read()).toBeUndefined());
      expect(await store.remove(api, place)).toHaveProperty('type', 'notFound');
    });
  });
}
