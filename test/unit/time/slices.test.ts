import { describe, expect, jest, test } from '@jest/globals';
import { ActionInTurns, eachInTurns, inSlices, Slices } from '../../../src/time/slices.ts';

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

  test('wait for a gate, before any step', async () => {
    let gate: PromiseWithResolvers<void> | undefined;
    const slices = new Slices(
      () => 0,
      () => gate?.promise,
    );
    const order: string[] = [];
    function* steps() {
      order.push('first');
      gate = Promise.withResolvers<void>();
      setImmediate(() => {
        order.push('opened');
        gate?.resolve();
        gate = undefined;
      });
      yield;
      order.push('second');
      return 'done';
    }
    expect(slices.isUsedUp).toBe(false);
    expect(await inSlices(steps(), slices)).toBe('done');
    expect(order).toEqual(['first', 'opened', 'second']);
  });

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

test('an action for many values lets others have their turn, also if values come and go meanwhile', async () => {
  const values = new Set(Array.from({ length: 130 }, (_, value) => value));
  const order: (number | string)[] = [];
  setImmediate(() => order.push('other'));
  await eachInTurns(values, (value) => {
    values.delete(value);
    values.add(value + 130);
    order.push(value);
  });
  expect(order.indexOf('other')).toBe(64);
  expect(order.filter((one) => one !== 'other')).toEqual(Array.from({ length: 130 }, (_, value) => value));
});

test('an action in turns runs for a few values in each, whenever they come', async () => {
  const order: (number | string)[] = [];
  const action = new ActionInTurns<number>((value) => {
    order.push(value);
    if (value === 3) action.add(130);
  });
  for (let value = 0; value < 130; value += 1) action.add(value);
  action.add(0);
  expect(order).toEqual([]);
  await new Promise((resolve) => void setImmediate(resolve));
  order.push('other');
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  expect(order.indexOf('other')).toBe(64);
  expect(order.filter((one) => one !== 'other')).toEqual(Array.from({ length: 131 }, (_, value) => value));
});

test('an action in turns runs for one value in each if that takes long', async () => {
  const order: (number | string)[] = [];
  const action = new ActionInTurns<number>((value) => {
    const end = performance.now() + 12;
    while (performance.now() < end);
    order.push(value);
  });
  for (let value = 0; value < 3; value += 1) action.add(value);
  setImmediate(() => order.push('other'));
  await action.done();
  expect(order).toEqual([0, 'other', 1, 2]);
});

test('an action that fails does not hold up the values after it', () => {
  jest.useFakeTimers();
  const order: number[] = [];
  const action = new ActionInTurns<number>((value) => {
    if (value === 1) throw new Error('unexpected');
    order.push(value);
  });
  for (let value = 0; value < 3; value += 1) action.add(value);
  expect(() => jest.runAllTimers()).toThrow('unexpected');
  jest.runAllTimers();
  jest.useRealTimers();
  expect(order).toEqual([0, 2]);
});
