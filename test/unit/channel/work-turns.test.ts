import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WorkTurns } from '../../../src/channel/work-turns.ts';
import { SharedSlice } from '../../../src/time/slices.ts';

const { signal: never } = new AbortController();

describe('the work for the messages of several peers', () => {
  let time = 0;
  const turns = (): WorkTurns => new WorkTurns(new SharedSlice(), () => time);
  const advance = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
  beforeEach(() => {
    jest.useFakeTimers();
    time = 0;
  });
  afterEach(() => void jest.useRealTimers());

  test('takes at most half of the time', async () => {
    const work = turns();
    let done = 0;
    const all = Array.from({ length: 10 }, () =>
      work.take(() => {
        time += 100;
        done += 1;
      }, never),
    );
    await jest.advanceTimersByTimeAsync(0);
    expect(done).toBe(1);
    await advance(99);
    expect(done).toBe(1);
    for (let count = 2; count <= 10; count += 1) {
      await advance(count === 2 ? 1 : 100);
      expect(done).toBe(count);
    }
    await Promise.all(all);
  });

  test('does not pause for short messages', async () => {
    const work = turns();
    let done = 0;
    for (let count = 0; count < 4; count += 1)
      void work.take(() => {
        time += 1;
        done += 1;
      }, never);
    await jest.runAllTimersAsync();
    expect(time).toBe(4);
    expect(done).toBe(4);
  });

  test('is not done for a peer that has gone, and goes on with the next one', async () => {
    const work = turns();
    const gone = new AbortController();
    const done: string[] = [];
    const first = work.take(() => void (time += 10), never);
    const second = work.take(() => done.push('second'), gone.signal);
    const third = work.take(() => done.push('third'), never);
    gone.abort();
    const fourth = work.take(() => done.push('fourth'), gone.signal);
    await jest.runAllTimersAsync();
    await Promise.all([first, second, third, fourth]);
    expect(done).toEqual(['third']);
  });
});

test('work that fails rejects, and the next peer has its turn', async () => {
  const work = new WorkTurns(new SharedSlice());
  const failed = work.take(() => {
    throw new Error('no');
  }, never);
  const gone = new AbortController();
  const next = work.take(() => undefined, gone.signal);
  await expect(failed).rejects.toThrow('no');
  await next;
  await nextTurn();
});

test('a peer that goes in the moment in which its turn begins passes it on', async () => {
  const work = new WorkTurns(new SharedSlice());
  const gone = new AbortController();
  let isDone = false;
  await Promise.all([
    work.take(() => undefined, never),
    work.take(() => gone.abort(), never),
    work.take(() => (isDone = true), gone.signal),
    work.take(() => undefined, never),
  ]);
  expect(isDone).toBe(false);
});

test('all groups of peers share a slice in each turn of the event loop', async () => {
  let time = 0;
  let done = 0;
  const slice = new SharedSlice();
  const works = Array.from({ length: 5 }, () =>
    new WorkTurns(slice, () => time).take(() => {
      time += 6;
      done += 1;
    }, never),
  );
  expect(done).toBe(2);
  await Promise.all(works);
  expect(done).toBe(5);
});
