import { afterEach, describe, expect, test } from '@jest/globals';
import { GatewayClassFinalizers, classFinalizer } from '../../../src/controller/gateway-class-finalizers.ts';
import type { WireMetadata, WireObject, WriteResult } from '../../../src/controller/ports.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { until } from '../../support/until.ts';

const controllerName = 'example.com/us';
const group = 'gateway.networking.k8s.io';
const running: GatewayClassFinalizers[] = [];

afterEach(() => {
  for (const one of running.splice(0)) one.stop();
});

function started(metadata: Partial<WireMetadata> = {}, retry = 1) {
  const calls: unknown[] = [];
  const world: {
    leads: boolean;
    result: WriteResult['type'];
    stored?: WireObject;
    hold?: (answer: () => void) => void;
  } = { leads: true, result: 'ok' };
  const finalizers = new GatewayClassFinalizers({
    controllerName,
    log: createLogger('silent'),
    retry,
    mayWrite: () => world.leads,
    writer: {
      async setFinalizers(_kind, object) {
        calls.push(object.metadata['finalizers']);
        // A loop without a pause would fill the memory before the test ends.
        if (calls.length > 100) return new Promise(() => {});
        const { hold } = world;
        if (hold !== undefined) await new Promise<void>((resolve) => hold(resolve));
        return world.result === 'ok'
          ? { type: 'ok', object: world.stored ?? object }
          : { type: world.result, message: 'no' };
      },
    },
  });
  running.push(finalizers);
  const putClass = (name: string, owner: string, more: Partial<WireMetadata> = {}) =>
    finalizers.observe({
      type: 'upsert',
      ref: { group, kind: 'GatewayClass', namespace: '', name },
      object: { metadata: { ...metadata, ...more, name }, spec: { controllerName: owner } },
    });
  const putGateway = (name: string, gatewayClassName: unknown) =>
    finalizers.observe({
      type: 'upsert',
      ref: { group, kind: 'Gateway', namespace: 'shop', name },
      object: { metadata: { name, namespace: 'shop' }, spec: { gatewayClassName } },
    });
  const dropGateway = (name: string) =>
    finalizers.observe({ type: 'delete', ref: { group, kind: 'Gateway', namespace: 'shop', name } });
  return { calls, world, finalizers, putClass, putGateway, dropGateway };
}

const settled = () => new Promise(setImmediate);

describe('the finalizer of a GatewayClass', () => {
  test('comes with the first Gateway and goes with the last, among those of others', async () => {
    const { calls, putClass, putGateway, dropGateway } = started({ finalizers: ['example.com/theirs'] });
    putGateway('one', 'ours');
    putClass('ours', controllerName);
    await settled();
    expect(calls).toEqual([['example.com/theirs', classFinalizer]]);
    putGateway('two', 'ours');
    dropGateway('one');
    await settled();
    expect(calls).toHaveLength(1);
    dropGateway('two');
    await settled();
    expect(calls.at(-1)).toEqual(['example.com/theirs']);
  });

  test('goes when the last Gateway names another class', async () => {
    const { calls, putClass, putGateway } = started();
    putClass('ours', controllerName);
    putGateway('one', 'ours');
    await settled();
    putGateway('one', 'other');
    await settled();
    expect(calls).toEqual([[classFinalizer], []]);
  });

  test('is written for a few classes at a time', async () => {
    const { calls, world, finalizers, putClass, putGateway } = started();
    const answers: (() => void)[] = [];
    world.hold = (answer) => void answers.push(answer);
    for (let index = 0; index < 20; index += 1) {
      putGateway(`gateway-${index}`, `class-${index}`);
      putClass(`class-${index}`, controllerName);
    }
    finalizers.enqueueAll();
    await settled();
    expect(calls).toHaveLength(4);
    answers.shift()?.();
    await settled();
    expect(calls).toHaveLength(5);
    while (answers.length > 0) {
      answers.shift()?.();
      await settled();
    }
    expect(calls).toEqual(Array.from({ length: 20 }, () => [classFinalizer]));
  });

  test('is not for classes of others, nor for one that is being deleted', async () => {
    const { calls, putClass, putGateway } = started();
    putClass('theirs', 'example.com/them');
    putGateway('one', 'theirs');
    putClass('going', controllerName, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    putGateway('two', 'going');
    putGateway('three', 7);
    await settled();
    expect(calls).toEqual([]);
  });

  test('is written to the newest version, also if the response to a write arrives after a newer one', async () => {
    const { calls, world, putClass, putGateway, dropGateway } = started();
    const answers: (() => void)[] = [];
    world.hold = (answer) => void answers.push(answer);
    world.stored = { metadata: { name: 'ours', resourceVersion: '2', finalizers: [classFinalizer] } };
    putGateway('one', 'ours');
    putClass('ours', controllerName, { resourceVersion: '1' });
    await settled();
    putClass('ours', controllerName, { resourceVersion: '10', finalizers: [classFinalizer, 'example.com/theirs'] });
    answers[0]?.();
    await settled();
    dropGateway('one');
    await settled();
    expect(calls).toEqual([[classFinalizer], ['example.com/theirs']]);
  });

  test('is written by the leader, and again after a conflict', async () => {
    const { calls, world, finalizers, putClass, putGateway } = started();
    world.leads = false;
    putClass('ours', controllerName);
    putGateway('one', 'ours');
    await settled();
    expect(calls).toEqual([]);
    world.leads = true;
    world.result = 'conflict';
    finalizers.enqueueAll();
    await until(() => expect(calls.length).toBeGreaterThan(2));
    world.result = 'ok';
    const sent = calls.length;
    await until(() => expect(calls.length).toBeGreaterThan(sent));
  });

  test.each<[string, { result: WriteResult['type']; stored?: WireObject }]>([
    ['is not found', { result: 'notFound' }],
    ['is stored without it', { result: 'ok', stored: { metadata: { name: 'ours', finalizers: [] } } }],
  ])('is not written again at once to a class that %s', async (_, answer) => {
    const { calls, world, putClass, putGateway } = started({}, 60_000);
    Object.assign(world, answer);
    putGateway('one', 'ours');
    putClass('ours', controllerName);
    await settled();
    expect(calls).toEqual([[classFinalizer]]);
    putClass('ours', controllerName, { resourceVersion: '2' });
    await settled();
    expect(calls).toHaveLength(2);
  });
});
