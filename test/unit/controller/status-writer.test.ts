import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { LiveObjects } from '../../../src/controller/live-objects.ts';
import type { EventNote, WireObject, WriteResult } from '../../../src/controller/ports.ts';
import { StatusWriter, type Pace } from '../../../src/controller/status-writer.ts';
import type { OwnStatus } from '../../../src/core/status/emit.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';

interface Call {
  readonly object: WireObject;
  readonly answer: (result: WriteResult) => Promise<void>;
}

const writers: StatusWriter[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const writer of writers.splice(0)) await writer.stop();
});

function status(message: string): OwnStatus {
  return { conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted', message, observedGeneration: 1 }] };
}

function started(pace: Partial<Pace> = {}) {
  const calls: Call[] = [];
  const notes: EventNote[] = [];
  const logged: string[] = [];
  const live = new LiveObjects();
  const world = { leads: true, wanted: new Map<string, OwnStatus>() };
  const metrics = createMetrics();
  const time = { passed: 0, jumped: 0 };
  const writer = new StatusWriter({
    live,
    metrics,
    log: createLogger('info', { write: (line) => void logged.push(line) }),
    controllerName: 'example.com/us',
    events: { record: (note) => void notes.push(note) },
    mayWrite: () => world.leads,
    wanted: (key) => world.wanted.get(key),
    writer: {
      updateStatus: (_kind, object) =>
        new Promise((resolve) => {
          calls.push({
            object,
            async answer(result) {
              resolve(result);
              await new Promise(setImmediate);
            },
          });
        }),
    },
    // Long enough that no test sees the end of it.
    pace: { rest: 0, group: 0, retry: 60_000, rewrites: 3, window: 60_000, ...pace },
    clock: {
      now: () => performance.now() + time.passed,
      date: () => new Date(Date.UTC(2026, 0, 1) + time.jumped),
    },
  });
  writers.push(writer);
  const see = (name: string, resourceVersion: string, present: unknown = {}) =>
    writer.enqueue(live.set('GatewayClass', { metadata: { name, resourceVersion, generation: 1 }, status: present }));
  return { calls, notes, logged, live, world, writer, see, metrics, time };
}

/** The answer of an API server that stored it. */
function stored(call: Call | undefined, resourceVersion: string): WriteResult {
  if (call === undefined) throw new Error('nothing was sent');
  return { type: 'ok', object: { ...call.object, metadata: { ...call.object.metadata, resourceVersion } } };
}

describe('writing of statuses', () => {
  test('compares a limited number of statuses in each turn of the event loop', async () => {
    const { live, world, writer } = started();
    let compared = 0;
    world.wanted.get = () => {
      compared += 1;
      return undefined;
    };
    for (let number = 0; number < 1_000; number += 1)
      live.set('GatewayClass', { metadata: { name: `c${number}`, resourceVersion: '1', generation: 1 } });
    writer.enqueueAll();
    expect(compared).toBe(100);
    await new Promise(setImmediate);
    expect(compared).toBeLessThan(1_000);
    await eventually(() => expect(compared).toBe(1_000));
  });

  test('namespaces take turns', async () => {
    const { calls, live, world, writer } = started();
    const change = (namespace: string, name: string): void => {
      const key = live.set('HTTPRoute', { metadata: { namespace, name, resourceVersion: '1', generation: 1 } });
      world.wanted.set(key, status('one'));
      writer.enqueue(key);
    };
    for (let number = 0; number < 100; number += 1) change('busy', `r${number}`);
    change('other', 'r');
    for (const call of calls.slice(0, 2)) await call.answer(stored(call, '2'));
    expect(calls.map(({ object }) => object.metadata.namespace)).toContain('other');
    expect(calls.length).toBeLessThan(20);
    world.leads = false;
    for (const call of calls) await call.answer(stored(call, '2'));
  });

  test('one write in flight for an object; afterwards the newest state counts', async () => {
    const { calls, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    world.wanted.set('GatewayClass//a', status('two'));
    writer.enqueue('GatewayClass//a');
    world.wanted.set('GatewayClass//a', status('three'));
    writer.enqueue('GatewayClass//a');
    expect(calls).toHaveLength(1);
    await calls[0]?.answer(stored(calls[0], '2'));
    expect(calls).toHaveLength(2);
    expect(calls[1]?.object).toMatchObject({
      metadata: { resourceVersion: '2' },
      status: { conditions: [{ message: 'three' }] },
    });
    await calls[1]?.answer(stored(calls[1], '3'));
    expect(calls).toHaveLength(2);
  });

  test('a write names the object and its version, and leaves out the metadata that the API server keeps', async () => {
    const { calls, world, live, writer } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    const identity = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1 };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    writer.enqueue(live.set('GatewayClass', { metadata: { ...identity, annotations, managedFields: [] } }));
    expect(calls[0]?.object.metadata).toEqual(identity);
    await calls[0]?.answer(stored(calls[0], '2'));
  });

  test('an object rests after a write', async () => {
    const { calls, world, writer, see } = started({ rest: 60_000 });
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    await calls[0]?.answer(stored(calls[0], '2'));
    world.wanted.set('GatewayClass//a', status('two'));
    writer.enqueue('GatewayClass//a');
    expect(calls).toHaveLength(1);
  });

  test('objects that change soon after a write are written together', async () => {
    const { calls, world, see } = started({ group: 20 });
    for (const name of ['a', 'b', 'c']) world.wanted.set(`GatewayClass//${name}`, status('one'));
    see('a', '1');
    expect(calls).toHaveLength(1);
    see('b', '1');
    see('c', '1');
    expect(calls).toHaveLength(1);
    await eventually(() => expect(calls).toHaveLength(3));
    for (const call of calls) await call.answer(stored(call, '2'));
  });

  test('the echo of a write is compared at once, although the object rests', async () => {
    const { calls, world, see, metrics } = started({ rest: 60_000 });
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    await calls[0]?.answer(stored(calls[0], '2'));
    see('a', '2', calls[0]?.object['status']);
    expect(await metrics.scrape()).toContain('status_writes_suppressed_total{kind="GatewayClass",reason="equal"} 1');
    see('a', '3');
    expect(calls).toHaveLength(1);
  });

  test('a count of routes rests longer than anything else', async () => {
    const owner = (attachedRoutes: number, message: string): OwnStatus => ({
      ...status(message),
      listeners: [{ name: 'http', supportedKinds: [], attachedRoutes, conditions: [] }],
    });
    const { calls, world, writer, see } = started({ rest: 0, countRest: 60_000 });
    world.wanted.set('GatewayClass//a', owner(1, 'one'));
    see('a', '1');
    await calls[0]?.answer(stored(calls[0], '2'));
    world.wanted.set('GatewayClass//a', owner(2, 'one'));
    writer.enqueue('GatewayClass//a');
    expect(calls).toHaveLength(1);
    // The count goes with what is urgent, and a later count waits again.
    world.wanted.set('GatewayClass//a', owner(3, 'two'));
    writer.enqueue('GatewayClass//a');
    expect(calls[1]?.object['status']).toMatchObject({
      conditions: [{ message: 'two' }],
      listeners: [{ attachedRoutes: 3 }],
    });
    await calls[1]?.answer(stored(calls[1], '3'));
    // Somebody else's overwrite is no count.
    see('a', '4');
    expect(calls).toHaveLength(3);
    await calls[2]?.answer(stored(calls[2], '5'));
  });

  test('a count of routes is written after its rest', async () => {
    const owner = (attachedRoutes: number): OwnStatus => ({
      ...status('one'),
      listeners: [{ name: 'http', supportedKinds: [], attachedRoutes, conditions: [] }],
    });
    const { calls, world, writer, see } = started({ rest: 0, countRest: 20 });
    world.wanted.set('GatewayClass//a', owner(1));
    see('a', '1');
    await calls[0]?.answer(stored(calls[0], '2'));
    world.wanted.set('GatewayClass//a', owner(2));
    writer.enqueue('GatewayClass//a');
    await eventually(() => expect(calls).toHaveLength(2));
    expect(calls[1]?.object['status']).toMatchObject({ listeners: [{ attachedRoutes: 2 }] });
    await calls[1]?.answer(stored(calls[1], '3'));
  });

  test('what changed while it rested is written then', async () => {
    const { calls, world, writer, see } = started({ rest: 20 });
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    world.wanted.set('GatewayClass//a', status('two'));
    writer.enqueue('GatewayClass//a');
    await calls[0]?.answer(stored(calls[0], '2'));
    await eventually(() => expect(calls).toHaveLength(2));
    expect(calls[1]?.object).toMatchObject({
      metadata: { resourceVersion: '2' },
      status: { conditions: [{ message: 'two' }] },
    });
    await calls[1]?.answer(stored(calls[1], '3'));
  });

  test('only what was written rests', async () => {
    const { calls, world, see } = started({ rest: 60_000 });
    world.wanted.set('GatewayClass//a', status('ours'));
    see('a', '1');
    await calls[0]?.answer({ type: 'conflict', message: 'changed' });
    see('a', '2');
    expect(calls).toHaveLength(2);
    await calls[1]?.answer(stored(calls[1], '3'));
    world.wanted.set('GatewayClass//b', status('ours'));
    see('b', '1');
    expect(calls).toHaveLength(3);
    await calls[2]?.answer(stored(calls[2], '2'));
  });

  test('different objects do not wait for each other', () => {
    const { calls, world, see } = started();
    for (const name of ['a', 'b', 'c']) {
      world.wanted.set(`GatewayClass//${name}`, status(name));
      see(name, '1');
    }
    expect(calls.map(({ object }) => object.metadata.name)).toEqual(['a', 'b', 'c']);
    for (const call of calls) void call.answer(stored(call, '2'));
  });

  test('after a conflict the status is made anew from the newer object', async () => {
    const { calls, world, see } = started();
    world.wanted.set('GatewayClass//a', status('ours'));
    see('a', '1');
    await calls[0]?.answer({ type: 'conflict', message: 'changed' });
    expect(calls).toHaveLength(1);
    const foreign = { type: 'example.com/Other', status: 'True', reason: 'X', message: '' };
    see('a', '2', { conditions: [foreign] });
    expect(calls[1]?.object).toMatchObject({
      metadata: { resourceVersion: '2' },
      status: { conditions: [foreign, { message: 'ours' }] },
    });
    await calls[1]?.answer(stored(calls[1], '3'));
  });

  test('a status whose object the API server does not find is written again, while the watch delivers no deletion', async () => {
    const { calls, world, live, see } = started({ retry: 1 });
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    await calls[0]?.answer({ type: 'notFound', message: 'the server could not find the requested resource' });
    await eventually(() => expect(calls).toHaveLength(2));
    live.delete('GatewayClass//a');
    await calls[1]?.answer({ type: 'notFound', message: 'gone' });
    world.wanted.set('GatewayClass//b', status('one'));
    see('b', '1');
    await calls[2]?.answer({ type: 'notFound', message: 'the server could not find the requested resource' });
    await eventually(() => expect(calls).toHaveLength(4));
    expect(calls.map(({ object }) => object.metadata.name)).toEqual(['a', 'a', 'b', 'b']);
    await calls[3]?.answer(stored(calls[3], '2'));
  });

  test('the response to a write does not replace a newer object that the watch has delivered before', async () => {
    const { calls, world, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '9');
    const first = stored(calls[0], '10');
    const theirs = { conditions: [{ type: 'Theirs', status: 'True' }] };
    world.wanted.set('GatewayClass//a', status('two'));
    see('a', '11', theirs);
    await calls[0]?.answer(first);
    // With the version of the response, each further write would be a conflict, until the object changes again.
    expect(calls[1]?.object.metadata.resourceVersion).toBe('11');
    expect(calls[1]?.object.status).toMatchObject({ conditions: [{ type: 'Theirs' }, { message: 'two' }] });
    await calls[1]?.answer(stored(calls[1], '12'));
    expect(calls).toHaveLength(2);
  });

  test('an object that is deleted during its write stays deleted', async () => {
    const { calls, live, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('ours'));
    see('a', '1');
    live.delete('GatewayClass//a');
    writer.enqueue('GatewayClass//a');
    await calls[0]?.answer(stored(calls[0], '2'));
    expect([...live.keys()]).toEqual([]);
    expect(calls).toHaveLength(1);
  });

  test('nothing is sent by who does not lead; who becomes leader looks at everything', async () => {
    const { calls, world, writer, see } = started();
    world.leads = false;
    world.wanted.set('GatewayClass//a', status('ours'));
    see('a', '1');
    expect(calls).toHaveLength(0);
    world.leads = true;
    writer.enqueueAll();
    expect(calls).toHaveLength(1);
    await calls[0]?.answer({ type: 'notFound', message: 'gone' });
  });

  test('nothing is sent after the term, whatever comes: not what waits, not what is tried again', async () => {
    const { calls, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    world.wanted.set('GatewayClass//a', status('two'));
    writer.enqueue('GatewayClass//a');
    world.leads = false;
    await calls[0]?.answer({ type: 'conflict', message: 'somebody else leads' });
    see('a', '2');
    writer.enqueueAll();
    expect(calls).toHaveLength(1);
  });

  test('a write that fails because the term has ended is no warning', async () => {
    const { calls, logged, world, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    world.leads = false;
    await calls[0]?.answer({ type: 'unavailable', message: 'the lease was not renewed in time' });
    expect(logged).toEqual([]);
  });

  test.each(['conflict', 'forbidden', 'unavailable', 'notFound', 'invalid'] as const)(
    'retries of a status after %s become rare, until a write succeeds',
    async (type) => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
      const { calls, world, see } = started({ retry: 1_000, longestRetry: 20_000 });
      const failAgain = async (seconds: number): Promise<number> => {
        const before = calls.length;
        for (let passed = 0; passed < seconds; passed += 1) {
          await calls.at(-1)?.answer({ type, message: 'no' });
          jest.advanceTimersByTime(1_000);
        }
        return calls.length - before;
      };
      world.wanted.set('GatewayClass//a', status('one'));
      see('a', '1');
      expect(await failAgain(60)).toBeGreaterThan(1);
      expect(await failAgain(60)).toBe(3);
      see('a', '1');
      await calls.at(-1)?.answer(stored(calls.at(-1), '2'));
      world.wanted.set('GatewayClass//a', status('two'));
      see('a', '2');
      expect(await failAgain(20)).toBeGreaterThan(1);
      world.leads = false;
      await calls.at(-1)?.answer({ type, message: 'no' });
    },
  );

  test('a status that is to change is written at once, even if the retry of a failure is far away', async () => {
    const { calls, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    await calls[0]?.answer({ type: 'forbidden', message: 'no' });
    world.wanted.set('GatewayClass//a', status('two'));
    writer.enqueue('GatewayClass//a');
    expect(calls).toHaveLength(2);
    await calls[1]?.answer(stored(calls[1], '2'));
  });

  test('failures of the same kind are logged once, and so is the success after them', async () => {
    const { calls, logged, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('one'));
    see('a', '1');
    for (const type of ['forbidden', 'forbidden', 'conflict', 'forbidden', 'unavailable', 'unavailable'] as const) {
      await calls.at(-1)?.answer({ type, message: 'no' });
      writer.enqueue('GatewayClass//a');
    }
    await calls.at(-1)?.answer(stored(calls.at(-1), '2'));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', object: 'GatewayClass//a', outcome: 'forbidden', msg: 'cannot write status' },
      { level: 'warn', object: 'GatewayClass//a', outcome: 'unavailable', msg: 'cannot write status' },
      { level: 'info', object: 'GatewayClass//a', failures: 6 },
    ]);
  });

  test('what was written is told once', async () => {
    const { calls, notes, world, see } = started();
    world.wanted.set('GatewayClass//a', status('fine'));
    see('a', '1');
    expect(notes).toEqual([]);
    await calls[0]?.answer(stored(calls[0], '2'));
    expect(notes).toMatchObject([
      {
        regarding: { kind: 'GatewayClass', name: 'a' },
        type: 'Normal',
        reason: 'Accepted',
        note: 'Accepted is True: fine',
      },
    ]);
    world.wanted.set('GatewayClass//a', status('still fine'));
    see('a', '3', { conditions: [] });
    await calls[1]?.answer({ type: 'invalid', message: 'no' });
    expect(notes).toHaveLength(1);
  });

  test('a status that is overwritten again and again is left alone for a while, and counted', async () => {
    const { calls, notes, world, see, metrics } = started();
    world.wanted.set('GatewayClass//a', status('ours'));
    for (let round = 0; round < 10; round += 1) {
      see('a', `before ${round}`, {
        conditions: [{ type: 'Accepted', status: 'False', reason: 'Theirs', message: '' }],
      });
      const call = calls[round];
      if (call !== undefined) await call.answer(stored(call, `after ${round}`));
    }
    // The first one, and as many repetitions as the pace allows.
    expect(calls).toHaveLength(4);
    const text = await metrics.scrape();
    expect(text).toContain('sallyport_status_writes_total{kind="GatewayClass",result="ok"} 4');
    expect(text).toContain('sallyport_status_writes_suppressed_total{kind="GatewayClass",reason="contested"} 1');
    expect(notes.at(-1)).toMatchObject({
      regarding: { kind: 'GatewayClass', name: 'a' },
      type: 'Warning',
      reason: 'StatusContested',
    });
  });

  test('rewrites count for their window, even if the wall clock is set back', async () => {
    const { calls, world, see, time } = started();
    world.wanted.set('GatewayClass//a', status('ours'));
    for (let round = 0; round < 5; round += 1) {
      see('a', `before ${round}`, { conditions: [] });
      await calls[round]?.answer(stored(calls[round], `after ${round}`));
      time.passed += 30_000;
      time.jumped -= 3_600_000;
    }
    expect(calls).toHaveLength(5);
  });

  test('what there is to say anew is written all the same', async () => {
    const { calls, world, writer, see } = started();
    world.wanted.set('GatewayClass//a', status('ours'));
    for (let round = 0; round < 4; round += 1) {
      see('a', `before ${round}`, { conditions: [] });
      await calls[round]?.answer(stored(calls[round], `after ${round}`));
    }
    see('a', 'before 4', { conditions: [] });
    expect(calls).toHaveLength(4);
    world.wanted.set('GatewayClass//a', status('news'));
    writer.enqueue('GatewayClass//a');
    expect(calls[4]?.object).toMatchObject({ status: { conditions: [{ message: 'news' }] } });
    await calls[4]?.answer(stored(calls[4], 'after 4'));
  });

  test('a status that changes as often as it likes is no contest', async () => {
    const { calls, world, see } = started();
    for (let round = 0; round < 10; round += 1) {
      world.wanted.set('GatewayClass//a', status(`round ${round}`));
      see('a', `${round}`);
      await calls[round]?.answer(stored(calls[round], `${round}'`));
    }
    expect(calls).toHaveLength(10);
  });
});
