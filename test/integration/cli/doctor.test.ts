import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeAuthorities } from '../../../src/certificates/authority-secret.ts';
import { ClusterSecretStore } from '../../../src/cluster/secret-store.ts';
import { gatherFacts } from '../../../src/cli/doctor/gather.ts';
import { diagnose } from '../../../src/cli/doctor/report.ts';
import { webhookConfigurations } from '../../../src/webhook/configuration/webhook-configuration.ts';
import { createClient, customResourceDefinitions } from '../../../src/kubernetes/index.ts';
import { credentialsFor } from '../../support/credentials.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';

const installation = {
  namespace: 'default',
  service: 'hook',
  configuration: 'hooks',
  impactConfiguration: 'warnings',
  secret: 'authority',
  lease: 'hooks',
  webhookAccount: 'hook',
  watchdogAccount: 'dog',
  controllerAccount: 'controller',
  controllerLease: 'sallyport-controller',
  controllerSecret: 'sallyport-controller-authority',
};
let stage: KubernetesStage;

beforeEach(async () => {
  stage = await kubernetesStage();
});

afterEach(() => stage.close());

test('gathers what is there, and what cannot be known, without a write', async () => {
  const current = { certificate: 'c', privateKey: 'SECRET', issuedAt: 0, notAfter: 900 };
  await new ClusterSecretStore(stage, { namespace: 'default', name: 'authority' }).create(
    writeAuthorities({ current, retired: [] }),
  );
  seed(stage, webhookConfigurations, {
    metadata: { name: 'hooks' },
    webhooks: [{ name: 'validate', failurePolicy: 'Ignore' }],
  });
  const spec = {
    group: 'gateway.networking.k8s.io',
    names: { kind: 'Gateway', plural: 'gateways' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true }],
  };
  seed(stage, customResourceDefinitions, { metadata: { name: 'gateways.gateway.networking.k8s.io' }, spec });
  seed(stage, customResourceDefinitions, {
    metadata: { name: 'others.example.com' },
    spec: { ...spec, group: 'example.com' },
  });
  const names = { kind: 'HostnamePolicy', plural: 'hostnamepolicies' };
  seed(stage, customResourceDefinitions, {
    metadata: { name: 'hostnamepolicies.sallyport.dev' },
    spec: { ...spec, group: 'sallyport.dev', names },
  });
  const before = stage.server.audit.length;

  const facts = await gatherFacts(stage.client, installation);
  expect(facts).toMatchObject({
    kinds: { type: 'known', value: [{ plural: 'gateways' }, { plural: 'hostnamepolicies' }] },
    guardedBundle: { type: 'known', value: undefined },
    configuration: { type: 'known', value: { webhooks: [{ failurePolicy: 'Ignore' }] } },
    authorities: {
      type: 'known',
      value: { type: 'authorities', current: { notAfter: 900, renewalTime: 600 }, bundle: ['c'] },
    },
    readyEndpoints: { type: 'known', value: 0 },
    probe: { type: 'suspended' },
    permissions: { type: 'unknown' },
  });
  expect(JSON.stringify(facts)).not.toContain('SECRET');
  const written = stage.server.audit
    .slice(before)
    .filter(
      ({ method, path, query }) =>
        method !== 'GET' && query['dryRun'] !== 'All' && !path.includes('subjectaccessreviews'),
    );
  expect(written).toEqual([]);
});

test('reads more CRDs than fit into one response', async () => {
  for (let index = 0; index < 20; index += 1)
    seed(stage, customResourceDefinitions, {
      metadata: { name: `large${index}.example.com`, annotations: { padding: 'x'.repeat(1_000_000) } },
      spec: {
        group: index === 19 ? 'gateway.networking.k8s.io' : 'example.com',
        names: { kind: `Large${index}`, plural: `large${index}` },
        scope: 'Namespaced',
        versions: [],
      },
    });
  const { kinds } = await gatherFacts(stage.client, installation);
  expect(kinds).toMatchObject({ type: 'known', value: [{ plural: 'large19' }] });
});

test('says that the API server does not answer', async () => {
  const client = createClient(credentialsFor('http://127.0.0.1:1'));
  const verdicts = diagnose(await gatherFacts(client, installation));
  await client.close();
  expect(verdicts).toEqual([
    expect.objectContaining({
      check: 'api-server',
      status: 'fail',
      message: expect.stringContaining('cannot be reached'),
    }),
  ]);
});
