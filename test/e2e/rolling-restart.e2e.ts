import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, loadCredentials, type ApiClient } from '../../src/kubernetes/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { kubectlOutput } from './support/kubectl.ts';
import { burst, Load, mixedWrites, storeLoadRoute } from './support/load.ts';
import {
  failurePolicy,
  installSallyport,
  podNames,
  systemNamespace,
  uninstallSallyport,
  waitUntilGone,
  waitUntilReady,
  webhookPods,
} from './support/sallyport.ts';

// Under failurePolicy Fail every call that fails is a write that fails: replicas may come and go, and connections rest, without one.
const namespace = useNamespace('restart');
const writes = mixedWrites(namespace);

let client: ApiClient;

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await installCrds('v1.7.0', 'standard');
  await installSallyport('enforce');
  await storeLoadRoute(namespace);
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
  await client.close();
});

test('a rolling restart under 100 writes a second fails none, and every verdict is right', async () => {
  const before = await podNames('webhook');
  const load = new Load(client, writes);
  try {
    await load.goesOn(1000);
    await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-webhook', '-n', systemNamespace]);
    await waitUntilReady();
    await waitUntilGone('webhook', before);
    await load.goesOn(1000);
  } finally {
    await load.stop();
  }
  const { surprises, accepted, denied } = await load.stop();
  expect(surprises).toEqual({});
  expect(Math.min(accepted, denied)).toBeGreaterThan(999);
  expect(await failurePolicy()).toBe('Fail');
});

test('a burst fails nothing after two minutes in which every connection rested', async () => {
  const pods = await webhookPods();
  const wished = { accepted: 100, denied: 100, surprises: {} };
  expect(await burst(client, writes, 200)).toEqual(wished);
  // Long enough for API server and webhook to give up idle connections, each in its own time.
  await pause(120_000);
  expect(await burst(client, writes, 200)).toEqual(wished);
  expect(await webhookPods()).toEqual(pods);
});
