import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueSigningAuthority } from '../../src/certificates/authority-rotation.ts';
import { AuthorityRotation, ManagedCertificate, serviceNames, type Rounds } from '../../src/certificates/index.ts';
import { ClusterSecretStore } from '../../src/cluster/secret-store.ts';
import { ClusterBundleStore } from '../../src/webhook/configuration/bundle-store.ts';
import { FailurePolicyKeeper } from '../../src/webhook/configuration/failure-policy-keeper.ts';
import {
  isProbe,
  probeDenial,
  readProbeOutcome,
  sendProbe,
  type ProbeOutcome,
} from '../../src/webhook/configuration/probe.ts';
import { startSelfCheck } from '../../src/webhook/configuration/self-check.ts';
import { Watchdog } from '../../src/webhook/configuration/watchdog.ts';
import { readWebhookConfiguration } from '../../src/webhook/configuration/webhook-configuration.ts';
import { createClient, loadCredentials, type ApiClient, type EventNote } from '../../src/kubernetes/index.ts';
import { createAdmissionMetrics, createLogger, createMetrics } from '../../src/telemetry/index.ts';
import { buildWebhook } from '../../src/webhook/index.ts';
import { bundleStoreContract, secretStoreContract } from '../contract/certificate-stores.ts';
import { allow, atOnce } from '../support/webhook.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectlOutput } from './support/kubectl.ts';
import { waitFor } from './support/wait.ts';

const namespace = useNamespace('certificates');
const log = createLogger('silent');
const service = 'webhook';
/** Where tests run: the node, as pods and API server see it. */
const host = '10.77.0.1';

let client: ApiClient;

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await installCrds('v1.7.0', 'standard');
});

afterAll(async () => {
  await removeCrds();
  await client.close();
});

/** A configuration that asks for GatewayClasses at the Service of these tests. */
function configurationObject(name: string): object {
  const webhook = {
    clientConfig: { service: { namespace, name: service, path: '/validate', port: 443 } },
    rules: [
      {
        apiGroups: ['gateway.networking.k8s.io'],
        apiVersions: ['*'],
        resources: ['gatewayclasses'],
        operations: ['CREATE'],
      },
    ],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    timeoutSeconds: 5,
    failurePolicy: 'Ignore',
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      { name: 'one.test.sallyport.dev', ...webhook },
      { name: 'other.test.sallyport.dev', ...webhook },
    ],
  };
}

async function createConfiguration(): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  await apply(configurationObject(name));
  return name;
}

async function deleteConfiguration(name: string): Promise<void> {
  await kubectlOutput(['delete', 'validatingwebhookconfiguration', name, '--ignore-not-found']);
}

secretStoreContract('a real API server', async () => {
  const name = `test-${randomBytes(4).toString('hex')}`;
  return { store: new ClusterSecretStore({ client, log }, { namespace, name }), close: async () => undefined };
});

bundleStoreContract('a real API server', async () => {
  const name = await createConfiguration();
  const [one, other] = await Promise.all(
    [0, 1].map(async () => (await issueSigningAuthority(Date.now(), Date.now() + 60_000)).certificate),
  );
  return {
    store: new ClusterBundleStore({ client, log }, name),
    touch: async () =>
      void (await kubectlOutput([
        'annotate',
        'validatingwebhookconfiguration',
        name,
        `touched=${randomBytes(4).toString('hex')}`,
        '--overwrite',
      ])),
    remove: () => deleteConfiguration(name),
    close: () => deleteConfiguration(name),
    certificates: [one ?? '', other ?? ''],
  };
});

/** Milliseconds: everything that takes days otherwise. */
const policy = { authorityLifetime: 36_000, leafLifetime: 9_000, propagation: 1_500, clockSkew: 100 };

/** A replica as in a pod: it serves with a leaf of its own, and can lead. */
class Replica {
  private readonly stops: (() => Promise<unknown>)[] = [];
  private leaving = 0;

  get leaves(): number {
    return this.leaving;
  }

  async start(configuration: string, port: number): Promise<void> {
    const secrets = new ClusterSecretStore({ client, log }, { namespace, name: 'authority' });
    const bundles = new ClusterBundleStore({ client, log }, configuration);
    const rotation = new AuthorityRotation({ secrets, bundles, policy, log }).start();
    const managed = new ManagedCertificate({ secrets, names: serviceNames(service, namespace), policy, log });
    const renewal = managed.start();
    const certificates = await managed.issued();
    certificates.onChange(() => (this.leaving += 1));
    const app = buildWebhook({
      certificates,
      log,
      metrics: createAdmissionMetrics(createMetrics(), {
        cacheAge: () => undefined,
        certificateExpiry: () => undefined,
      }),
      decide: atOnce((request) => (isProbe(request) ? probeDenial : allow)),
      // Each call shakes hands anew.
      draining: () => true,
    });
    await app.listen({ host, port });
    const check = startSelfCheck({
      bundles,
      certificates,
      address: { host, port },
      serverName: `${service}.${namespace}.svc`,
    });
    this.stops.push(
      () => check.stop(),
      () => app.close(),
      () => renewal.stop(),
      () => rotation.stop(),
    );
    await waitFor('the replica trusts itself', async () => (check.problem() === undefined ? true : undefined));
  }

  async stop(): Promise<void> {
    for (const stop of this.stops.splice(0)) await stop();
  }
}

const ports = [9801, 9802, 9803];

/** A Service whose endpoints are the replicas in this process. */
async function exposeReplicas(ready: boolean): Promise<void> {
  await apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service, namespace },
    spec: { ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
  });
  for (const port of ports) {
    await apply({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      metadata: { name: `${service}-${port}`, namespace, labels: { 'kubernetes.io/service-name': service } },
      ports: [{ name: 'https', port, protocol: 'TCP' }],
      endpoints: [{ addresses: [host], conditions: { ready } }],
    });
  }
}

describe('three replicas with certificates of their own', () => {
  const replicas = ports.map(() => new Replica());
  const events: EventNote[] = [];
  let configuration: string;

  const failurePolicies = async (): Promise<readonly string[]> => {
    const { webhooks } = await getObject<{ webhooks: readonly { failurePolicy: string }[] }>([
      'validatingwebhookconfiguration',
      configuration,
    ]);
    return webhooks.map(({ failurePolicy }) => failurePolicy);
  };
  const becomes = (what: string) =>
    waitFor(`failurePolicy becomes ${what}`, async () =>
      (await failurePolicies()).every((policy) => policy === what) ? true : undefined,
    );
  const probe = async (): Promise<ProbeOutcome> =>
    readProbeOutcome(await sendProbe(client), await readWebhookConfiguration(client, configuration));
  /** Service and endpoints take a moment to reach the node's tables. */
  const probeShows = (type: ProbeOutcome['type']) =>
    waitFor(`a probe is ${type}`, async () => ((await probe()).type === type ? true : undefined));
  const keeper = (wanted: 'Fail' | 'Ignore'): Rounds =>
    new FailurePolicyKeeper({
      client,
      log,
      metrics: createMetrics(),
      events: { record: (note) => void events.push(note) },
      configuration,
      wanted: () => wanted,
      interval: 500,
    }).start();

  beforeAll(async () => {
    configuration = await createConfiguration();
    await exposeReplicas(true);
    await Promise.all(replicas.map((replica, position) => replica.start(configuration, ports[position] ?? 0)));
  });

  afterAll(async () => {
    await deleteConfiguration(configuration);
    for (const replica of replicas) await replica.stop();
  });

  test('reach failurePolicy Fail once they are proven, and lose nothing else of the configuration', async () => {
    const before = await getObject<{ webhooks: readonly object[] }>(['validatingwebhookconfiguration', configuration]);
    const rounds = keeper('Fail');
    await becomes('Fail');
    await rounds.stop();
    const after = await getObject<{ webhooks: readonly object[] }>(['validatingwebhookconfiguration', configuration]);
    expect(after.webhooks.map((webhook) => ({ ...webhook, failurePolicy: 'Ignore', clientConfig: null }))).toEqual(
      before.webhooks.map((webhook) => ({ ...webhook, clientConfig: null })),
    );
    expect(events.map(({ reason }) => reason)).toEqual(['FailurePolicyFail']);
  });

  test('rotate authorities and leaves under load without one failed call', async () => {
    const failures: unknown[] = [];
    const seen = new Set<string>();
    const end = Date.now() + 1.7 * policy.authorityLifetime;
    const call = async (): Promise<void> => {
      while (Date.now() < end) {
        const outcome = await probe();
        if (outcome.type !== 'denied') failures.push(outcome);
      }
    };
    const look = async (): Promise<void> => {
      while (Date.now() < end) {
        const trusted = (await readWebhookConfiguration(client, configuration))?.webhooks[0]?.trusted ?? [];
        for (const certificate of trusted) seen.add(certificate);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    };
    await Promise.all([call(), call(), call(), call(), look()]);
    expect(failures).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(3);
    for (const replica of replicas) expect(replica.leaves).toBeGreaterThan(6);
  });

  test('are let go of by the keeper when calls do not arrive', async () => {
    await exposeReplicas(false);
    await probeShows('failed');
    const rounds = keeper('Fail');
    await becomes('Ignore');
    await probeShows('admitted');
    await exposeReplicas(true);
    await becomes('Fail');
    await rounds.stop();
    expect(events.map(({ reason }) => reason)).toEqual([
      'FailurePolicyFail',
      'FailurePolicyIgnore',
      'FailurePolicyFail',
    ]);
  });

  test('are let go of by the watchdog when none is ready, and it never sets Fail', async () => {
    const watchdog = new Watchdog({
      client,
      log,
      metrics: createMetrics(),
      events: { record: (note) => void events.push(note) },
      configuration,
      service: { namespace, name: service },
      patience: 2_000,
    });
    const rounds = watchdog.start();
    await waitFor('the watchdog sees', async () => (watchdog.problems().length === 0 ? true : undefined));
    expect(await failurePolicies()).toEqual(['Fail', 'Fail']);
    await exposeReplicas(false);
    await becomes('Ignore');
    await exposeReplicas(true);
    await watchdog.round();
    await watchdog.round();
    expect(await failurePolicies()).toEqual(['Ignore', 'Ignore']);
    await rounds.stop();
    expect(events.at(-1)).toMatchObject({ reason: 'FailurePolicyIgnore', action: 'Released' });
  });

  test('give Fail up when the settings do not ask for it any more', async () => {
    const first = keeper('Fail');
    await becomes('Fail');
    await first.stop();
    const second = keeper('Ignore');
    await becomes('Ignore');
    await second.stop();
    expect(await failurePolicies()).toEqual(['Ignore', 'Ignore']);
  });
});

test('the probe is suspended while its CRD is missing', async () => {
  await removeCrds();
  expect(readProbeOutcome(await sendProbe(client), undefined)).toMatchObject({ type: 'suspended' });
});
