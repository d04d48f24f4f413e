import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { knownKinds, type KindEntry } from '../../src/core/schema/index.ts';
import {
  ApiError,
  applyForced,
  create,
  customResourceDefinitions,
  Discovery,
  Election,
  EventRecorder,
  get,
  mergePatch,
  pathOf,
  Reflector,
  remove,
  resourceType,
  update,
  updateStatus,
  type ApiClient,
  type InstalledKind,
  type KubernetesObject,
  type ObjectEvent,
  type ResourceType,
  type Selection,
  type WriteOutcome,
} from '../../src/kubernetes/index.ts';
import { systemClock } from '../../src/time/clock.ts';
import { createLogger } from '../../src/telemetry/index.ts';
import { ManualClock } from '../support/manual-clock.ts';

export interface KubernetesGround {
  readonly client: ApiClient;
  close(): Promise<void>;
}

const configMaps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const leases: ResourceType = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
const events: ResourceType = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true };
const log = createLogger('silent');

// A kind of the Gateway API that no present release has: its definition is ours to make and to delete.
const [retired] = knownKinds.filter(({ kind }) => kind === 'BackendLBPolicy') as [KindEntry];
const policies = resourceType(retired, 'v1alpha2');
const definitionName = `${retired.plural}.${retired.group}`;

function definition(...versions: readonly string[]): KubernetesObject {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  };
  return {
    metadata: {
      name: definitionName,
      annotations: {
        'api-approved.kubernetes.io': 'unapproved, made by a test',
        'gateway.networking.k8s.io/bundle-version': 'v1.0.0',
      },
    },
    spec: {
      group: policies.apiVersion.split('/')[0],
      names: {
        kind: policies.kind,
        listKind: `${policies.kind}List`,
        plural: policies.plural,
        singular: policies.kind.toLowerCase(),
      },
      scope: 'Namespaced',
      versions: versions.map((name, position) => ({
        name,
        served: true,
        storage: position === 0,
        schema,
        subresources: { status: {} },
      })),
    },
  };
}

/** Waits, up to half a minute, until `check` passes. */
async function until(check: () => void | Promise<void>): Promise<void> {
  const latest = performance.now() + 30_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > latest) throw error;
      await delay(20);
    }
  }
}

function objectOf(outcome: WriteOutcome): KubernetesObject {
  if (outcome.type !== 'ok' || outcome.object === undefined)
    throw new Error(`expected an object, got ${JSON.stringify(outcome)}`);
  return outcome.object;
}

/** What a reader of events would know: by name, the object's data; and every event in short. */
class Reader {
  readonly objects = new Map<string, KubernetesObject>();
  readonly steps: string[] = [];

  take(happened: readonly ObjectEvent[]): void {
    for (const event of happened) {
      this.steps.push(`${event.type} ${event.ref.name}`);
      if (event.type === 'upsert') this.objects.set(event.ref.name, event.object);
      else this.objects.delete(event.ref.name);
    }
  }

  get names(): readonly string[] {
    return [...this.objects.keys()].toSorted();
  }
}

/** What our side of the Kubernetes API relies on, whatever API server it is. */
export function kubernetesContract(server: string, open: () => Promise<KubernetesGround>): void {
  describe(`the Kubernetes API of ${server}`, () => {
    const namespace = `contract-${randomUUID().slice(0, 8)}`;
    let ground: KubernetesGround;
    let client: ApiClient;

    beforeAll(async () => {
      ground = await open();
      client = ground.client;
      objectOf(await create({ client, type: namespaces }, { metadata: { name: namespace } }));
    });

    afterAll(async () => {
      await remove({ client, type: namespaces }, { name: namespace });
      await remove({ client, type: customResourceDefinitions }, { name: definitionName });
      await ground.close();
    });

    function configMap(
      name: string,
      data: Record<string, string> = {},
      labels?: Record<string, string>,
    ): KubernetesObject {
      return { metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) }, data };
    }

    const read = (type: ResourceType, name: string) => client.request({ path: pathOf(type, { namespace, name }) });

    describe('writing', () => {
      const writer = () => ({ client, type: configMaps });

      test('an object is created once, changed, deleted once', async () => {
        const created = objectOf(await create(writer(), configMap('one', { a: '1' })));
        expect(created.metadata.uid).toMatch(/./);
        expect(await create(writer(), configMap('one'))).toMatchObject({ type: 'exists' });
        expect(
          objectOf(await mergePatch(writer(), { namespace, name: 'one' }, { data: { a: null, b: '2' } }))['data'],
        ).toEqual({ b: '2' });
        const target = { namespace, name: 'one' };
        expect(await remove(writer(), target)).toMatchObject({ type: 'ok' });
        expect(await remove(writer(), target)).toMatchObject({ type: 'notFound' });
        expect(await mergePatch(writer(), target, { data: {} })).toMatchObject({ type: 'notFound' });
        await expect(read(configMaps, 'one')).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
      });

      test('an update of an older version changes nothing', async () => {
        const first = objectOf(await create(writer(), configMap('stale', { a: '1' })));
        objectOf(await update(writer(), { ...first, data: { a: '2' } }));
        expect(await update(writer(), { ...first, data: { a: '3' } })).toMatchObject({ type: 'conflict' });
        expect(await read(configMaps, 'stale')).toMatchObject({ data: { a: '2' } });
      });

      test('a patch that names an older version changes nothing', async () => {
        const { metadata } = objectOf(await create(writer(), configMap('patched', { a: '1' })));
        const target = { namespace, name: 'patched' };
        const patch = (resourceVersion: string | undefined, ...finalizers: readonly string[]) =>
          mergePatch(writer(), target, { metadata: { resourceVersion, finalizers } });
        const changed = objectOf(await patch(metadata.resourceVersion, 'example.com/kept'));
        expect(await patch(metadata.resourceVersion)).toMatchObject({ type: 'conflict' });
        expect(await get(writer(), target)).toMatchObject({
          type: 'ok',
          object: { metadata: { finalizers: ['example.com/kept'] } },
        });
        expect(await patch(changed.metadata.resourceVersion)).toMatchObject({ type: 'ok' });
        expect(await get(writer(), { namespace, name: 'nobody' })).toMatchObject({ type: 'notFound' });
      });

      test('nothing is sent once it was called off', async () => {
        const { metadata } = objectOf(await create(writer(), configMap('called-off', { a: '1' })));
        const signal = AbortSignal.abort(new Error('the term is over'));
        expect(
          await applyForced(writer(), configMap('called-off', { a: '2' }), { fieldManager: 'x', signal }),
        ).toMatchObject({ type: 'unavailable', message: 'the term is over' });
        expect(await read(configMaps, 'called-off')).toMatchObject({
          metadata: { resourceVersion: metadata.resourceVersion },
        });
      });

      test('a delete holds only for the object that was meant', async () => {
        const meant = objectOf(await create(writer(), configMap('meant')));
        const target = { namespace, name: 'meant' };
        expect(await remove(writer(), target, { uid: randomUUID() })).toMatchObject({ type: 'conflict' });
        expect(await remove(writer(), target, { resourceVersion: '1' })).toMatchObject({ type: 'conflict' });
        expect(await remove(writer(), target, { uid: meant.metadata.uid ?? '' })).toMatchObject({ type: 'ok' });
      });

      test('what can never be stored is invalid, with the field', async () => {
        const outcome = await create(writer(), configMap('Not_A_Name'));
        expect(outcome).toMatchObject({ type: 'invalid', causes: [{ field: 'metadata.name' }] });
      });

      test('a dry run is judged and not stored', async () => {
        expect(await create(writer(), configMap('dry'), { dryRun: 'All' })).toMatchObject({ type: 'ok' });
        expect(await create(writer(), configMap('Not_A_Name'), { dryRun: 'All' })).toMatchObject({ type: 'invalid' });
        await expect(read(configMaps, 'dry')).rejects.toBeInstanceOf(ApiError);
        objectOf(await create(writer(), configMap('kept', { a: '1' })));
        expect(
          await mergePatch(writer(), { namespace, name: 'kept' }, { data: { a: '2' } }, { dryRun: 'All' }),
        ).toMatchObject({ type: 'ok' });
        expect(
          await applyForced(writer(), configMap('kept', { b: '2' }), { dryRun: 'All', fieldManager: 'x' }),
        ).toMatchObject({ type: 'ok' });
        expect(await remove(writer(), { namespace, name: 'kept' }, { dryRun: 'All' })).toMatchObject({ type: 'ok' });
        expect(await read(configMaps, 'kept')).toMatchObject({ data: { a: '1' } });
      });

      test('server-side apply creates, owns, drops what it owned, and takes over', async () => {
        const ours = { fieldManager: 'ours' };
        const first = objectOf(await applyForced(writer(), configMap('applied', { a: '1', b: '1' }), ours));
        const again = objectOf(await applyForced(writer(), configMap('applied', { a: '1', b: '1' }), ours));
        expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
        expect(
          objectOf(await applyForced(writer(), configMap('applied', { c: '1' }), { fieldManager: 'theirs' }))['data'],
        ).toEqual({ a: '1', b: '1', c: '1' });
        expect(objectOf(await applyForced(writer(), configMap('applied', { b: '2' }), ours))['data']).toEqual({
          b: '2',
          c: '1',
        });
        expect(
          objectOf(await applyForced(writer(), configMap('applied', { b: '3' }), { fieldManager: 'theirs' }))['data'],
        ).toEqual({ b: '3' });
      });

      test('server-side apply to an object of a certain uid makes no other one', async () => {
        const ours = { fieldManager: 'ours' };
        const applied = (uid: string, b: string) => ({
          ...configMap('identified', { b }),
          metadata: { namespace, name: 'identified', uid },
        });
        const {
          metadata: { uid = '' },
        } = objectOf(await applyForced(writer(), configMap('identified', { b: '1' }), ours));
        expect(objectOf(await applyForced(writer(), applied(uid, '2'), ours))['data']).toEqual({ b: '2' });
        expect(await remove(writer(), { namespace, name: 'identified' }, {})).toMatchObject({ type: 'ok' });
        expect(await applyForced(writer(), applied(uid, '3'), ours)).toMatchObject({ type: 'conflict' });
        expect(await get(writer(), { namespace, name: 'identified' }, {})).toMatchObject({ type: 'notFound' });
        expect(objectOf(await applyForced(writer(), configMap('identified', { b: '4' }), ours))['data']).toEqual({
          b: '4',
        });
        expect(await applyForced(writer(), applied(uid, '5'), ours)).toMatchObject({
          type: 'invalid',
          message: expect.stringContaining('metadata.uid'),
        });
        expect(await read(configMaps, 'identified')).toMatchObject({ data: { b: '4' } });
      });
    });

    describe('following', () => {
      function follow(reader: Reader, selection: Partial<Selection> = {}): Reflector {
        return new Reflector({
          client,
          clock: systemClock,
          log,
          selection: { type: configMaps, namespace, ...selection },
          onEvents: (happened) => reader.take(happened),
        });
      }

      test('tells what is there, then what happens, each once and in order', async () => {
        const writer = { client, type: configMaps };
        const selection = { labelSelector: 'suite=order' };
        const made = (name: string, data: Record<string, string> = {}) =>
          create(writer, configMap(name, data, { suite: 'order' }));
        objectOf(await made('before', { a: '1' }));
        objectOf(await create(writer, configMap('foreign')));
        const reader = new Reader();
        const reflector = follow(reader, selection);
        await reflector.whenSynced;
        expect(reader.steps).toEqual(['upsert before']);
        expect(reader.objects.get('before')).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
        expect(reader.objects.get('before')?.metadata).not.toHaveProperty('managedFields');

        objectOf(await made('after'));
        await mergePatch(writer, { namespace, name: 'before' }, { data: { a: '2' } });
        await remove(writer, { namespace, name: 'after' });
        objectOf(await made('after', { again: 'yes' }));
        await mergePatch(writer, { namespace, name: 'before' }, { metadata: { labels: { suite: 'other' } } });
        await until(() =>
          expect(reader.steps).toEqual([
            'upsert before',
            'upsert after',
            'upsert before',
            'delete after',
            'upsert after',
            'delete before',
          ]),
        );
        expect(reader.objects.get('after')).toMatchObject({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          data: { again: 'yes' },
        });
        expect(reader.objects.get('after')?.metadata).not.toHaveProperty('managedFields');
        expect(reflector.problem).toBeUndefined();
        await reflector.retire();
        expect(reader.objects.size).toBe(0);
      });

      test('lists more than a page', async () => {
        const names = Array.from({ length: 530 }, (_, position) => `many-${String(position).padStart(4, '0')}`);
        for (let start = 0; start < names.length; start += 53) {
          const some = names
            .slice(start, start + 53)
            .map((name) => create({ client, type: configMaps }, configMap(name, {}, { suite: 'many' })));
          expect(new Set((await Promise.all(some)).map(({ type }) => type))).toEqual(new Set(['ok']));
        }
        const reader = new Reader();
        const reflector = follow(reader, { labelSelector: 'suite=many' });
        await reflector.whenSynced;
        expect(reader.names).toEqual(names);
        await reflector.stop();
      });

      test('metadata alone can be followed', async () => {
        objectOf(
          await create(
            { client, type: configMaps },
            configMap('light', { heavy: 'x'.repeat(1000) }, { suite: 'light' }),
          ),
        );
        const reader = new Reader();
        const reflector = follow(reader, { labelSelector: 'suite=light', part: 'metadata' });
        await reflector.whenSynced;
        await mergePatch(
          { client, type: configMaps },
          { namespace, name: 'light' },
          { metadata: { annotations: { a: 'b' } } },
        );
        await until(() => expect(reader.steps).toEqual(['upsert light', 'upsert light']));
        const light = reader.objects.get('light');
        expect(light).toMatchObject({ kind: 'ConfigMap', metadata: { annotations: { a: 'b' } } });
        expect(light).not.toHaveProperty('data');
        await reflector.stop();
      });

      test('a stopped reflector tells nothing', async () => {
        const reader = new Reader();
        const reflector = follow(reader, { labelSelector: 'suite=stopped' });
        await reflector.whenSynced;
        const witness = new Reader();
        const other = follow(witness, { labelSelector: 'suite=stopped' });
        await other.whenSynced;
        await reflector.stop();
        objectOf(await create({ client, type: configMaps }, configMap('late', {}, { suite: 'stopped' })));
        await until(() => expect(witness.names).toEqual(['late']));
        expect(reader.steps).toEqual([]);
        await other.stop();
      });
    });

    test('a kind is followed while its definition is there, in the version that is served', async () => {
      const reader = new Reader();
      let installed: InstalledKind | undefined;
      const kind = { entry: retired, namespace };
      const discovery = new Discovery({
        client,
        clock: systemClock,
        log,
        kinds: [
          kind,
          {
            entry: { group: '', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
            namespace,
            labelSelector: 'suite=discovery',
          },
        ],
        onEvents: (happened) => reader.take(happened),
        onInstalled: (all) => {
          installed = all.get(definitionName);
        },
      });
      await until(() => expect(discovery.synced).toBe(true));
      expect(discovery.stateOf(kind)).toMatchObject({ phase: 'absent' });

      const defined = objectOf(await create({ client, type: customResourceDefinitions }, definition('v1alpha2')));
      await until(() =>
        expect(discovery.stateOf(kind)).toMatchObject({ phase: 'following', version: 'v1alpha2', synced: true }),
      );
      expect(installed).toMatchObject({
        name: definitionName,
        kind: 'BackendLBPolicy',
        established: true,
        storedVersions: ['v1alpha2'],
        annotations: { 'gateway.networking.k8s.io/bundle-version': 'v1.0.0' },
      });
      expect(installed?.versions[0]?.schemaHash).toMatch(/^[0-9a-f]{64}$/);
      const policy = objectOf(
        await create({ client, type: policies }, { metadata: { name: 'sticky', namespace }, spec: { a: 1 } }),
      );
      await until(() => expect(reader.names).toEqual(['sticky']));

      // Status has a way of its own.
      const withStatus = objectOf(
        await updateStatus({ client, type: policies }, { ...policy, spec: { a: 2 }, status: { seen: true } }),
      );
      expect(withStatus).toMatchObject({ spec: { a: 1 }, status: { seen: true }, metadata: { generation: 1 } });
      expect(await updateStatus({ client, type: policies }, { ...policy, status: {} })).toMatchObject({
        type: 'conflict',
      });
      expect(
        objectOf(await update({ client, type: policies }, { ...withStatus, spec: { a: 3 }, status: {} })),
      ).toMatchObject({ spec: { a: 3 }, status: { seen: true }, metadata: { generation: 2 } });

      const current = (await client.request({
        path: pathOf(customResourceDefinitions, { name: definitionName }),
      })) as KubernetesObject;
      expect(current.metadata.uid).toBe(defined.metadata.uid);
      objectOf(
        await update(
          { client, type: customResourceDefinitions },
          { ...current, spec: definition('v1alpha2', 'v1')['spec'] },
        ),
      );
      await until(() =>
        expect(discovery.stateOf(kind)).toMatchObject({ phase: 'following', version: 'v1', synced: true }),
      );
      expect(reader.objects.get('sticky')).toMatchObject({ apiVersion: 'gateway.networking.k8s.io/v1' });

      expect(await remove({ client, type: customResourceDefinitions }, { name: definitionName })).toMatchObject({
        type: 'ok',
      });
      await until(() => expect(discovery.stateOf(kind)).toMatchObject({ phase: 'absent' }));
      expect(reader.names).toEqual([]);
      await until(() => expect(installed).toBeUndefined());
      await until(
        async () => void objectOf(await create({ client, type: customResourceDefinitions }, definition('v1'))),
      );
      await until(() =>
        expect(discovery.stateOf(kind)).toMatchObject({ phase: 'following', version: 'v1', synced: true }),
      );
      await discovery.stop();
    }, 60_000);

    describe('electing', () => {
      const timings = { leaseDuration: 2_000, renewDeadline: 1_500, retryPeriod: 100 };

      function candidate(lease: string, identity: string, led: string[] = []): Election {
        return new Election({
          client,
          clock: systemClock,
          log,
          namespace,
          name: lease,
          identity,
          timings,
          lead: (term) => {
            led.push(`${identity} begins`);
            return new Promise((resolve) => {
              term.addEventListener('abort', () => {
                led.push(`${identity} ends`);
                resolve();
              });
            });
          },
        });
      }

      test('one leads; when it stops the other need not wait', async () => {
        const led: string[] = [];
        const first = candidate('handed-over', 'first', led);
        await until(() => expect(first.isLeader()).toBe(true));
        const second = candidate('handed-over', 'second', led);
        await until(() => expect(second.holder).toBe('first'));
        expect(second.isLeader()).toBe(false);
        const renewed = ((await read(leases, 'handed-over')) as KubernetesObject).metadata.resourceVersion;
        await until(async () =>
          expect(((await read(leases, 'handed-over')) as KubernetesObject).metadata.resourceVersion).not.toBe(renewed),
        );
        await first.stop();
        expect(first.isLeader()).toBe(false);
        await until(() => expect(second.isLeader()).toBe(true));
        expect(led).toEqual(['first begins', 'first ends', 'second begins']);
        expect(await read(leases, 'handed-over')).toMatchObject({
          spec: { holderIdentity: 'second', leaseTransitions: expect.any(Number) },
        });
        await second.stop();
        expect(await read(leases, 'handed-over')).toMatchObject({ spec: { holderIdentity: '' } });
      });

      test('a term ends when the lease is taken away, or deleted', async () => {
        const led: string[] = [];
        const only = candidate('taken', 'only', led);
        await until(() => expect(only.isLeader()).toBe(true));
        await mergePatch(
          { client, type: leases },
          { namespace, name: 'taken' },
          { spec: { holderIdentity: 'thief', leaseDurationSeconds: 1 } },
        );
        await until(() => expect(led).toEqual(['only begins', 'only ends']));
        // The thief does not renew.
        await until(() => expect(only.isLeader()).toBe(true));
        await remove({ client, type: leases }, { namespace, name: 'taken' });
        await until(() => expect(led.slice(2)).toEqual(['only begins', 'only ends', 'only begins']));
        await only.stop();
      });
    });

    test('events become one series, in the namespace of what they are about', async () => {
      const clock = new ManualClock();
      clock.advance(Date.now() - clock.date().getTime());
      const recorder = new EventRecorder({
        client,
        clock,
        log,
        controller: 'sallyport.dev/contract',
        instance: 'contract-0',
      });
      const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'talked-about', uid: randomUUID() };
      const note = {
        regarding,
        type: 'Warning',
        reason: 'Tested',
        action: 'Testing',
        note: 'ünïcode '.repeat(200),
      } as const;
      recorder.record(note);
      recorder.record({ ...note, reason: 'Other' });
      for (let minute = 0; minute < 3; minute++) {
        recorder.record(note);
        clock.advance(61_000);
        recorder.record(note);
      }
      await recorder.flush();
      const list = (await client.request({ path: pathOf(events, { namespace }) })) as { items: KubernetesObject[] };
      const ours = list.items.filter((event) => event['reportingController'] === 'sallyport.dev/contract');
      expect(ours.map((event) => [event['reason'], (event['series'] as { count: number } | undefined)?.count])).toEqual(
        expect.arrayContaining([
          ['Tested', 7],
          ['Other', undefined],
        ]),
      );
      expect(ours).toHaveLength(2);
    });
  });
}
