import { expect, test } from '@jest/globals';
import { createClient, customResourceDefinitions, type KubernetesObject } from '../../../src/kubernetes/index.ts';
import { ReportStore } from '../../../src/webhook/audit/report-store.ts';
import { maxResults, reportApis, reportLabels, reportName } from '../../../src/webhook/audit/report.ts';
import { reportStoreContract } from '../../contract/report-store.ts';
import { credentialsFor } from '../../support/credentials.ts';
import { startFakeApiServer } from '../../support/fake-api-server.ts';
import { kubernetesStage, seed } from '../../support/kubernetes.ts';
import { reportDefinitions } from '../../support/report-definitions.ts';

reportStoreContract('the fake', async () => {
  const server = await startFakeApiServer();
  const client = createClient(credentialsFor(server.url));
  return {
    client,
    async close() {
      await client.close();
      await server.close();
    },
  };
});

const manyKeys = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, index]));

test.each<[string, number, object]>([
  ['more results than the audit writes', maxResults + 1, {}],
  ['a result of more keys than the audit writes', 1, manyKeys],
  ['a result with such a value', 1, { timestamp: { seconds: 1, manyKeys } }],
])('a report with %s is replaced, and not read', async (_, count, more) => {
  const stage = await kubernetesStage();
  const [api] = reportApis;
  if (api === undefined) throw new Error('no report API');
  for (const definition of reportDefinitions(api))
    seed(stage, customResourceDefinitions, {
      ...definition,
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
  const foreign: KubernetesObject = {
    metadata: { name: reportName, namespace: 'shop', labels: reportLabels },
    results: Array.from({ length: count }, (_each, index) => ({
      rule: `rule-${index}`,
      timestamp: { seconds: 1 },
      properties: {},
      resources: [{}],
      ...more,
    })),
  };
  const store = new ReportStore(stage.client, new AbortController().signal);
  seed(stage, api.namespaced, foreign);
  expect(await store.read(api)).toEqual({ digests: new Map([['shop', '']]), times: new Map() });
  await stage.close();
});
