import { describe, expect, test } from '@jest/globals';
import { SharedSlices, Turns } from '../../../src/webhook/turns.ts';

describe('turns', () => {
  test('are taken one after the other, in order, by no more than may wait', async () => {
    const turns = new Turns(2);
    const order: string[] = [];
    await turns.enter(['a']);
    const waiting = ['first', 'second'].map(async (name) => {
      expect(await turns.enter(['a'])).toBe(true);
      order.push(name);
      turns.leave();
    });
    expect(turns.waiting).toBe(2);
    expect(await turns.enter(['a'])).toBe(false);
    turns.leave();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
    expect(turns.waiting).toBe(0);
    expect(await turns.enter(['a'])).toBe(true);
  });

  test('alternate between clients, who have equal shares of a full queue', async () => {
    const turns = new Turns(4);
    const order: string[] = [];
    const enter = async (client: string, name: string): Promise<void> => {
      if (!(await turns.enter([client]))) {
        order.push(`${name} refused`);
        return;
      }
      order.push(name);
      turns.leave();
    };
    await turns.enter(['a']);
    const waiting = ['a1', 'a2', 'a3', 'a4'].map((name) => enter('a', name));
    waiting.push(enter('b', 'b1'), enter('b', 'b2'), enter('b', 'b3'));
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual(['a1 refused', 'a2 refused', 'b3 refused']);
    turns.leave();
    await Promise.all(waiting);
    expect(order.slice(3)).toEqual(['a3', 'b1', 'a4', 'b2']);
  });
});

describe('shared slices', () => {
  /** Runs of some milliseconds each, on a clock that only they advance. */
  function runsOf(steps: Readonly<Record<string, readonly number[]>>, clientOf = (_name: string) => 'client') {
    let time = 0;
    const slices = new SharedSlices(undefined, () => time);
    const order: string[] = [];
    function* stepsOf(name: string, milliseconds: readonly number[]) {
      for (const [index, duration] of milliseconds.entries()) {
        time += duration;
        order.push(`${name}${index}`);
        yield;
      }
      return name;
    }
    const results = Object.entries(steps).map(([name, milliseconds]) =>
      slices.run(stepsOf(name, milliseconds), [clientOf(name)]),
    );
    return { order, results };
  }

  test('run what fits at once', async () => {
    const { order, results } = runsOf({ a: [1, 1], b: [1] });
    expect(order).toEqual(['a0', 'a1', 'b0']);
    expect(await Promise.all(results)).toEqual(['a', 'b']);
  });

  test('let others have their turn after all runs together used up a slice', async () => {
    const { order, results } = runsOf({ a: [6], b: [6], c: [6], d: [6] });
    setImmediate(() => order.push('other'));
    expect(order).toEqual(['a0', 'b0']);
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
    expect(order).toEqual(['a0', 'b0', 'c0', 'd0', 'other']);
  });

  test('let the other runs proceed after one that used up a slice', async () => {
    const { order, results } = runsOf({ a: [12, 12, 1], b: [12, 1] });
    expect(await Promise.all(results)).toEqual(['a', 'b']);
    expect(order).toEqual(['a0', 'a1', 'b0', 'a2', 'b1']);
  });

  test('alternate between clients, also with one that has many runs', async () => {
    const { order, results } = runsOf({ a: [12, 1], b: [12, 1], c: [12, 1], z: [12, 1] }, (name) =>
      name === 'z' ? 'other' : 'busy',
    );
    await Promise.all(results);
    expect(order).toEqual(['a0', 'a1', 'z0', 'b0', 'z1', 'c0', 'b1', 'c1']);
  });

  test('are short while connections wait to be accepted', async () => {
    let time = 0;
    const slices = new SharedSlices(
      undefined,
      () => time,
      () => true,
    );
    const order: string[] = [];
    function* steps(name: string) {
      for (let step = 0; step < 2; step += 1) {
        order.push(`${name}${step}`);
        time += 1;
        yield;
      }
    }
    setImmediate(() => order.push('accept'));
    await Promise.all([slices.run(steps('a'), ['client']), slices.run(steps('b'), ['client'])]);
    expect(order).toEqual(['a0', 'accept', 'a1', 'b0', 'b1']);
  });

  test('let as many connections be accepted as a step took short slices', async () => {
    let time = 0;
    const slices = new SharedSlices(
      undefined,
      () => time,
      () => true,
    );
    let turns = 0;
    let turn = setImmediate(function next() {
      turns += 1;
      turn = setImmediate(next);
    });
    const turnsOfSteps: number[] = [];
    function* steps() {
      for (const duration of [3, 1, 0]) {
        turnsOfSteps.push(turns);
        time += duration;
        yield;
      }
    }
    await slices.run(steps(), ['client']);
    clearImmediate(turn);
    expect(turnsOfSteps).toEqual([0, 3, 4]);
  });

  test('do not begin or go on while a gate is closed, and use each opening', async () => {
    let time = 0;
    let gate: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>();
    const slices = new SharedSlices(
      () => gate?.promise,
      () => time,
    );
    const order: string[] = [];
    function* steps() {
      for (let step = 0; step < 3; step += 1) {
        order.push(`step ${step}`);
        time += 10;
        yield;
      }
      return 'done';
    }
    const result = slices.run(steps(), ['client']);
    for (const expected of [[], ['step 0'], ['step 0', 'step 1']]) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(order).toEqual(expected);
      gate.resolve();
      gate = undefined;
      // The next change begins one turn later.
      await new Promise((resolve) => setImmediate(resolve));
      gate = Promise.withResolvers<void>();
    }
    gate.resolve();
    gate = undefined;
    expect(await result).toBe('done');
  });

  test('reject with the error of a step, and go on', async () => {
    const slices = new SharedSlices();
    function* failing(): Generator<undefined, string> {
      yield;
      throw new Error('wrong');
    }
    function* working(): Generator<undefined, string> {
      yield;
      return 'done';
    }
    const [failed, worked] = await Promise.allSettled([
      slices.run(failing(), ['client']),
      slices.run(working(), ['client']),
    ]);
    expect(failed).toMatchObject({ status: 'rejected', reason: new Error('wrong') });
    expect(worked).toEqual({ status: 'fulfilled', value: 'done' });
  });
});
