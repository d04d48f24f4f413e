import { afterEach, describe, expect, test } from '@jest/globals';
import type { WireObject, WriteResult } from '../../../src/controller/ports.ts';
import type { GatewayFacts } from '../../../src/controller/provision.ts';
import { Provisioner } from '../../../src/controller/provisioner.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';

const provisioners: Provisioner[] = [];

afterEach(async () => {
  for (const one of provisioners.splice(0)) await one.stop();
});

const facts: GatewayFacts = { namespace: 'shop', name: 'web', uid: 'u1', ports: [80], labels: {}, annotations: {} };

function started() {
  const calls: string[] = [];
  const world: { facts: GatewayFacts | undefined; leads: boolean; result: WriteResult } = { facts, leads: true, result: { type: 'ok' } };
  const act = (step: string) => async ({ kind, metadata }: WireObject) => {
    calls.push(`${step} ${kind} ${metadata.namespace}/${metadata.name}`);
    return world.result;
  };
  const provisioner = new Provisioner({
    writer: { apply: act('apply'), remove: act('remove') },
    settings: () => ({ image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM' }),
    factsOf: () => world.facts,
    mayWrite: () => world.leads,
    log: createLogger('silent'), metrics: createMetrics(), retry: 60_000,
  });
  provisioners.push(provisioner);
  /** Marks, and waits for what follows. */
  const mark = async (step: 'mark' | 'distrust' = 'mark') => {
    provisioner[step]('shop/web');
    await new Promise(setImmediate);
    return calls.splice(0);
  };
  return { calls, world, mark };
}

const name = 'shop/web-sallyport';
const all = ['ServiceAccount', 'ConfigMap', 'Service', 'Deployment', 'PodDisruptionBudget'].map((kind) => `apply ${kind} ${name}`);

describe('provisioning', () => {
  test('everything is applied once, and again when it has changed or was seen to go', async () => {
    const { world, mark } = started();
    expect(await mark()).toEqual(all);
    expect(await mark()).toEqual([]);
    world.facts = { ...facts, ports: [80, 81] };
    expect(await mark()).toEqual(all);
    expect(await mark('distrust')).toEqual(all);
  });

  test('a Gateway that needs nothing any more loses everything, once', async () => {
    const { world, mark } = started();
    await mark();
    world.facts = undefined;
    expect(await mark()).toEqual(['PodDisruptionBudget', 'Deployment', 'Service', 'ConfigMap', 'ServiceAccount'].map((kind) => `remove ${kind} ${name}`));
    expect(await mark()).toEqual([]);
  });

  test('nothing is deleted for a Gateway that never was ours', async () => {
    const { world, mark } = started();
    world.facts = undefined;
    expect(await mark()).toEqual([]);
  });

  test('what failed is tried again', async () => {
    const { world, mark } = started();
    world.result = { type: 'forbidden', message: 'quota' };
    expect(await mark()).toEqual(all);
    world.result = { type: 'ok' };
    expect(await mark()).toEqual(all);
    expect(await mark()).toEqual([]);
  });

  test('who does not lead sends nothing', async () => {
    const { world, mark } = started();
    world.leads = false;
    expect(await mark()).toEqual([]);
    world.leads = true;
    expect(await mark()).toEqual(all);
  });
});
