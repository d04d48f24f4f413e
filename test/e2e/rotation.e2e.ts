import { connect, type PeerCertificate } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { joinPem } from '../../src/certificates/index.ts';
import { readWebhookConfiguration, trustedByAll } from '../../src/webhook/configuration/webhook-configuration.ts';
import { createClient, loadCredentials, type ApiClient } from '../../src/kubernetes/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { Load, mixedWrites, storeLoadRoute } from './support/load.ts';
import {
  failurePolicy,
  installSallyport,
  systemNamespace,
  uninstallSallyport,
  webhookConfiguration,
  webhookPods,
  type WebhookPod,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// A year of certificates in a minute and a half: authority and certificates are renewed under load, without one failed call.
const namespace = useNamespace('rotation');
const args = ['--authority-lifetime=90s', '--certificate-lifetime=15s', '--propagation-time=8s', '--clock-skew=1s'];

let client: ApiClient;
let pods: readonly WebhookPod[];

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await installCrds('v1.7.0', 'standard');
  await installSallyport('enforce', { replicas: 3, args });
  await storeLoadRoute(namespace);
  pods = await webhookPods();
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
  await client.close();
});

/** What the API server trusts, one text for each authority. */
async function trusted(): Promise<readonly string[]> {
  const configuration = await readWebhookConfiguration(client, webhookConfiguration);
  return configuration === undefined ? [] : trustedByAll(configuration);
}

interface Handshake {
  readonly serial: string;
  readonly issuer: string;
}

/**
 * Greets a pod as an API server that trusts these authorities does; rejects where the certificate is not trusted. Whoever
 * is too busy to answer says nothing about that: undefined.
 */
function greet({ ip }: WebhookPod, authorities: readonly string[]): Promise<Handshake | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: ip,
      port: 10_250,
      servername: `sallyport-webhook.${systemNamespace}.svc`,
      ca: joinPem(authorities),
    });
    const end = (handshake: Handshake | undefined): void => {
      socket.destroy();
      resolve(handshake);
    };
    // Well before what it shall trust can be out of date.
    socket.setTimeout(5_000, () => end(undefined));
    socket.once('error', reject).once('secureConnect', () => {
      const { serialNumber, issuer }: PeerCertificate = socket.getPeerCertificate();
      end({ serial: serialNumber, issuer: String(issuer.CN) });
    });
  });
}

/** Notes, again and again, what the API server trusts and which certificates the pods show. */
class Observer {
  /** Each bundle once, in the order in which they came. */
  readonly bundles: (readonly string[])[] = [];
  /** Certificates that were not trusted, and whatever else went wrong. */
  readonly problems: string[] = [];
  private readonly observed = new Map<string, Map<string, string>>();
  private readonly running: Promise<void>;
  private isStopped = false;

  constructor() {
    this.running = this.observe();
  }

  /** Of each pod: how many certificates of one authority followed one another at most, and how many authorities signed. */
  shown(): readonly { readonly certificates: number; readonly authorities: number }[] {
    return pods.map(({ name }) => {
      const issuers = [...(this.observed.get(name)?.values() ?? [])];
      const authorities = new Set(issuers);
      return {
        certificates: Math.max(
          0,
          ...[...authorities].map((authority) => issuers.filter((issuer) => issuer === authority).length),
        ),
        authorities: authorities.size,
      };
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async observe(): Promise<void> {
    while (!this.isStopped) {
      try {
        await this.look();
      } catch (error) {
        this.problems.push(String(error));
      }
      await pause(100);
    }
  }

  private async look(): Promise<void> {
    const bundle = await trusted();
    if (bundle.join() !== this.bundles.at(-1)?.join()) this.bundles.push(bundle);
    // All at once, since a bundle is good for as long as its news takes to arrive.
    await Promise.all(
      pods.map(async (pod) => {
        const handshake = await greet(pod, bundle);
        if (handshake === undefined) return;
        const shown = this.observed.get(pod.name) ?? new Map<string, string>();
        this.observed.set(pod.name, shown.set(handshake.serial, handshake.issuer));
      }),
    );
  }
}

test('authority and certificates of three replicas are renewed under load without a failed call', async () => {
  const [first] = await waitFor('one authority alone', async () => {
    const bundle = await trusted();
    return bundle.length === 1 ? bundle : undefined;
  });
  const observer = new Observer();
  const load = new Load(client, mixedWrites(namespace), { together: 40 });
  try {
    await waitFor(
      'the first authority was replaced',
      async () => {
        const overlap = observer.bundles.findIndex((bundle) => bundle.length > 1 && bundle.includes(first ?? ''));
        const alone = observer.bundles.findIndex(
          (bundle, index) => index > overlap && bundle.length === 1 && !bundle.includes(first ?? ''),
        );
        return (overlap !== -1 && alone !== -1) || undefined;
      },
      200,
    );
    await load.goesOn(500);
  } finally {
    await observer.stop();
    await load.stop();
  }
  const { surprises, accepted, denied } = await load.stop();
  expect(surprises).toEqual({});
  expect(Math.min(accepted, denied)).toBeGreaterThan(999);
  expect(observer.problems).toEqual([]);
  for (const { certificates, authorities } of observer.shown()) {
    expect(certificates).toBeGreaterThan(1);
    expect(authorities).toBeGreaterThan(1);
  }
  expect(await webhookPods()).toEqual(pods);
  expect(await failurePolicy()).toBe('Fail');
});
