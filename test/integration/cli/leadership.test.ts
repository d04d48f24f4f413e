import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { clusterWriter } from '../../../src/cluster/cluster-writer.ts';
import { LiveObjects } from '../../../src/controller/live-objects.ts';
import type { WireObject } from '../../../src/controller/ports.ts';
import { StatusWriter } from '../../../src/controller/status-writer.ts';
import type { OwnStatus } from '../../../src/core/status/emit.ts';
import { Election } from '../../../src/kubernetes/index.ts';
import { createMetrics } from '../../../src/telemetry/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';

const classType = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
};
const statusPath = '/apis/gateway.networking.k8s.io/v1/gatewayclasses/ours/status';

let stage: KubernetesStage;
const ends: (() => Promise<void>)[] = [];

beforeEach(async () => {
  stage = await kubernetesStage();
  defineKind(stage, 'GatewayClass', 'v1');
  seed(stage, classType, { kind: 'GatewayClass', metadata: { name: 'ours' } });
});

afterEach(async () => {
  // Nobody waits for a hanging server.
  await stage.client.close();
  for (const end of ends.splice(0)) await end();
  await stage.close();
});

function stored(): WireObject {
  const object = stage.server.store.get('gatewayclasses.gateway.networking.k8s.io', '', 'ours');
  if (object === undefined) throw new Error('the class is there');
  return object;
}

const sent = () => stage.server.audit.filter(({ method, path }) => method === 'PUT' && path === statusPath).length;

/** The part of a controller that writes statuses. */
function replica(identity: string) {
  let term: AbortSignal | undefined;
  const live = new LiveObjects();
  const wanted: OwnStatus = {
    conditions: [
      { type: 'Accepted', status: 'True', reason: 'Accepted', message: `says ${identity}`, observedGeneration: 1 },
    ],
  };
  const election: Election = new Election({
    ...stage,
    namespace: 'default',
    name: 'controller',
    identity,
    lead: (begun) => {
      term = begun;
    },
  });
  const writer = new StatusWriter({
    writer: clusterWriter(stage.client, () => term),
    live,
    wanted: () => wanted,
    mayWrite: () => election.isLeader(),
    controllerName: 'example.com/us',
    events: { record() {} },
    log: stage.log,
    metrics: createMetrics(),
    pace: { rest: 0, retry: 1, rewrites: 5, window: 1 },
  });
  ends.push(async () => {
    await election.stop();
    await writer.stop();
  });
  return { election, see: () => writer.enqueue(live.set('GatewayClass', stored())) };
}

/** Lets time pass in small steps, giving requests a chance in between. */
async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 500) {
    stage.clock.advance(500);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
}

test('nothing is sent after the renew deadline, and what was under way is called off', async () => {
  const { election, see } = replica('first');
  await eventually(() => expect(election.isLeader()).toBe(true));
  stage.server.fail({ when: ({ path }) => path === statusPath, act: 'hang' });
  see();
  await eventually(() => expect(sent()).toBe(1));
  for (let times = 0; times < 20; times++)
    stage.server.fail({ when: ({ path }) => path.includes('/leases'), act: { code: 500 } });
  await pass(10_000);
  expect(election.isLeader()).toBe(false);
  // Called off, not waited for: it would be tried again at once by a leader.
  await eventually(() => expect(stage.logged.join('\n')).toContain('not renewed in time'));
  see();
  await pass(2_000);
  expect(sent()).toBe(1);
});

test('a write that is late all the same fails, and the next leader has the last word', async () => {
  const late = stored();
  const { election, see } = replica('second');
  await eventually(() => expect(election.isLeader()).toBe(true));
  see();
  await eventually(() => expect(JSON.stringify(stored()['status'])).toContain('says second'));
  expect(
    await clusterWriter(stage.client).updateStatus('GatewayClass', { ...late, status: { conditions: [] } }),
  ).toMatchObject({ type: 'conflict' });
  expect(JSON.stringify(stored()['status'])).toContain('says second');
});
