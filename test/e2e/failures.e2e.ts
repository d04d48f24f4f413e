import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, loadCredentials, type ApiClient } from '../../src/kubernetes/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { burst, goodWrites, Load, mixedWrites, storeLoadRoute, unjudged, type Report } from './support/load.ts';
import {
  applyOverlay,
  failurePolicy,
  installSallyport,
  killWebhookPods,
  podNames,
  scale,
  uninstallSallyport,
  waitForFailurePolicy,
  waitUntilGone,
  webhookLogs,
  webhookPods,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// Whatever happens to the webhook, the cluster's writes go on: at once, or as soon as the watchdog has acted.
const namespace = useNamespace('failures');
const good = goodWrites(namespace);
const mixed = mixedWrites(namespace);
/** Pods that came in place of killed ones, and are not wanted either, shall not drain for long. */
const args = ['--drain=1'];
/** What comes of 100 mixed writes where they are judged, and of 100 good ones where writes go on. */
const judged: Report = { accepted: 50, denied: 50, surprises: {} };
const goOn: Report = { accepted: 100, denied: 0, surprises: {} };

let client: ApiClient;

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await installCrds('v1.7.0', 'standard');
  await storeLoadRoute(namespace);
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
  await client.close();
});

async function waitUntilNone(component: 'webhook' | 'watchdog'): Promise<void> {
  await waitFor(
    `no pod of the ${component} is left`,
    async () => (await podNames(component)).length === 0 || undefined,
  );
}

/** All pods are killed, and none comes after them. */
async function loseWebhook(): Promise<void> {
  // In this order: a pod that has begun to drain is not hurried any more.
  await killWebhookPods();
  await scale('webhook', 0);
  await waitUntilNone('webhook');
}

async function waitUntilJudged(): Promise<void> {
  await waitFor('writes are judged', async () => (await burst(client, mixed, 20)).denied === 10 || undefined);
}

/** Waits until bad writes pass like good ones. */
async function waitUntilUnjudged(): Promise<void> {
  await waitFor(
    'writes pass without judgement',
    async () => (await burst(client, mixed, 20)).surprises[unjudged] === 10 || undefined,
  );
}

describe('under failurePolicy Ignore', () => {
  beforeAll(async () => {
    await installSallyport('enforce', { args, settings: { profile: 'standard', failurePolicy: 'Ignore' } });
    await waitUntilJudged();
  });

  test('no write fails while all replicas are lost', async () => {
    const load = new Load(client, good, { perSecond: 10 });
    try {
      await load.goesOn(10);
      await loseWebhook();
      await waitUntilUnjudged();
      await load.goesOn(10);
    } finally {
      await load.stop();
    }
    expect((await load.stop()).surprises).toEqual({});
    expect(await burst(client, good, 100)).toEqual(goOn);
  });

  test('writes are judged again when the replicas are back', async () => {
    await scale('webhook', 2);
    await waitUntilJudged();
    expect(await failurePolicy()).toBe('Ignore');
  });
});

describe('under failurePolicy Fail', () => {
  beforeAll(async () => {
    // New pods see new settings at once.
    await loseWebhook();
    await installSallyport('enforce', { args });
  });

  test('replicas that are all killed at once come back by themselves, and so does Fail', async () => {
    const killed = await podNames('webhook');
    await killWebhookPods();
    await waitUntilGone('webhook', killed);
    await waitUntilJudged();
    await waitForFailurePolicy('Fail');
    expect(await burst(client, mixed, 100)).toEqual(judged);
  });

  test('writes fail while all replicas are lost and nobody watches', async () => {
    // A watchdog on its way out may act once more.
    await scale('watchdog', 0);
    await waitUntilNone('watchdog');
    await waitForFailurePolicy('Fail');
    await loseWebhook();
    const { accepted, surprises } = await burst(client, good, 100);
    expect(accepted).toBe(0);
    for (const surprise of Object.keys(surprises))
      expect(surprise).toContain('failed calling webhook "validate.gateway.sallyport.dev"');
  });

  test('writes go on as soon as the watchdog has acted', async () => {
    await scale('watchdog', 1);
    await waitForFailurePolicy('Ignore');
    await waitUntilUnjudged();
    expect(await burst(client, good, 100)).toEqual(goOn);
  });

  test('Fail returns by itself when the replicas are back', async () => {
    await scale('webhook', 2);
    await waitForFailurePolicy('Fail');
    expect(await burst(client, mixed, 100)).toEqual(judged);
  });
});

describe('a webhook that never had settings which it can use', () => {
  beforeAll(async () => {
    await uninstallSallyport();
    await applyOverlay('enforce', { args, settings: { profile: 'standart', failurePolicy: 'Fail' } });
  });

  test('says what is wrong, and blocks nobody', async () => {
    await waitFor('both pods were started again', async () => {
      const pods = await webhookPods();
      return (pods.length === 2 && pods.every(({ restarts }) => restarts > 0)) || undefined;
    });
    await waitFor(
      'the log says why',
      async () =>
        (await webhookLogs()).every((log) =>
          log.includes('settings.yaml:1:1: profile: unsupported value "standart". Did you mean standard?'),
        ) || undefined,
    );
    expect(await failurePolicy()).toBe('Ignore');
    await waitUntilUnjudged();
    expect(await burst(client, good, 100)).toEqual(goOn);
  });

  test('begins to guard when the settings are right', async () => {
    await loseWebhook();
    await installSallyport('enforce', { args });
    expect(await burst(client, mixed, 100)).toEqual(judged);
  });
});
