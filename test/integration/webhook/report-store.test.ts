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

test('a report with more results than the audit writes is replaced, and not read', async () => {
  const stage = await kubernetesStage();
  const [api] = reportApis;
  if (api === undefined) throw new Error('no report API');
  for (const definition of reportDefinitions(api))
    seed(stage, customResourceDefinitions, {
      ...definition,
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
  const foreign = (count: number): KubernetesObject => ({
    metadata: { name: reportName, namespace: 'shop', labels: reportLabels },
    results: Array.from({ length: count }, (_, index) => ({
      rule: `rule-${index}`,
      timestamp: { seconds: 1 },
      properties: {},
      resources: [{}],
    })),
  });
  const store = new ReportStore(stage.client, new AbortController().signal);
  seed(stage, api.namespaced, foreign(maxResults + 1));
  expect(await store.read(api)).toEqual({ digests: new Map([['shop', '']]), times: new Map() });
  await stage.close();
});
