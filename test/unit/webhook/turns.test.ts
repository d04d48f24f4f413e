import { describe, expect, test } from '@jest/globals';
import { SharedSlices, Slices, Turns, inSlices } from '../../../src/webhook/turns.ts';

describe('turns', () => {
  test('are taken one after the other, in order, by no more than may wait', async () => {
    const turns = new Turns(2);
    const order: string[] = [];
    await turns.enter();
    const waiting = ['first', 'second'].map(async (name) => {
      await turns.enter();
      order.push(name);
      turns.leave();
    });
    expect(turns.waiting).toBe(2);
    expect(turns.enter()).toBeUndefined();
    turns.leave();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
    expect(turns.waiting).toBe(0);
    expect(turns.enter()).toBeDefined();
  });
});

describe('slices', () => {
  test('let others have their turn between steps that take long', async () => {
    const order: string[] = [];
    function* steps() {
      for (let step = 0; step < 3; step += 1) {
        const end = performance.now() + 12;
        while (performance.now() < end);
        order.push(`step ${step}`);
        yield;
      }
      return 'done';
    }
    setImmediate(() => order.push('other'));
    expect(await inSlices(steps())).toBe('done');
    expect(order).toEqual(['step 0', 'other', 'step 1', 'step 2']);
  });

  test.each([
    { milliseconds: 10, turns: 1 },
    { milliseconds: 29, turns: 2 },
    { milliseconds: 70, turns: 4 },
    { milliseconds: 7_000, turns: 4 },
  ])(
    'are followed by $turns turns of the event loop after a step of $milliseconds ms',
    async ({ milliseconds, turns }) => {
      let time = 0;
      const slices = new Slices(() => time);
      time += milliseconds;
      let count = 0;
      const next = (): void => {
        count += 1;
        immediate = setImmediate(next);
      };
      let immediate = setImmediate(next);
      await slices.next();
      clearImmediate(immediate);
      expect(count).toBe(turns);
    },
  );

  test('are shared by short runs, which yield together', async () => {
    let time = 0;
    const slices = new Slices(() => time);
    const order: string[] = [];
    function* steps(name: string) {
      order.push(name);
      time += 6;
      yield;
    }
    setImmediate(() => order.push('other'));
    for (const name of ['first', 'second', 'third']) await inSlices(steps(name), slices);
    expect(order).toEqual(['first', 'second', 'other', 'third']);
    expect(slices.isUsedUp).toBe(false);
  });
});

describe('shared slices', () => {
  /** Runs of some milliseconds each, on a clock that only they advance. */
  function runsOf(steps: Readonly<Record<string, readonly number[]>>) {
    let time = 0;
    const slices = new SharedSlices(() => time);
    const order: string[] = [];
    function* stepsOf(name: string, milliseconds: readonly number[]) {
      for (const [index, duration] of milliseconds.entries()) {
        time += duration;
        order.push(`${name}${index}`);
        yield;
      }
      return name;
    }
    const results = Object.entries(steps).map(([name, milliseconds]) => slices.run(stepsOf(name, milliseconds)));
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
    const [failed, worked] = await Promise.allSettled([slices.run(failing()), slices.run(working())]);
    expect(failed).toMatchObject({ status: 'rejected', reason: new Error('wrong') });
    expect(worked).toEqual({ status: 'fulfilled', value: 'done' });
  });
});
