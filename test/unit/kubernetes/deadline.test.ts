import { describe, expect, test } from '@jest/globals';
import { createDeadline } from '../../../src/kubernetes/deadline.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const late = new Error('late');

/** Moves time on, and lets everybody see it. */
async function pass(clock: ManualClock, milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  await new Promise(setImmediate);
}

function started(parent?: AbortSignal) {
  const clock = new ManualClock();
  return { clock, deadline: createDeadline(clock, 1_000, () => late, parent) };
}

describe('a deadline', () => {
  test('aborts when its time is over', async () => {
    const { clock, deadline } = started();
    await pass(clock, 999);
    expect(deadline.signal.aborted).toBe(false);
    await pass(clock, 1);
    expect(deadline.signal.reason).toBe(late);
  });

  test('begins anew as often as it is told, with one timer', async () => {
    const { clock, deadline } = started();
    for (let step = 0; step < 9; step += 1) {
      await pass(clock, 100);
      deadline.extend();
    }
    expect(clock.slept).toHaveLength(1);
    await pass(clock, 999);
    expect(deadline.signal.aborted).toBe(false);
    await pass(clock, 1);
    expect(deadline.signal.reason).toBe(late);
  });

  test('is never made shorter', async () => {
    const { clock, deadline } = started();
    deadline.extend(10);
    await pass(clock, 999);
    expect(deadline.signal.aborted).toBe(false);
  });

  test('follows its parent', () => {
    const parent = new AbortController();
    const { deadline } = started(parent.signal);
    parent.abort(late);
    expect(deadline.signal.reason).toBe(late);
  });

  test('does nothing any more once it is cleared', async () => {
    const parent = new AbortController();
    const { clock, deadline } = started(parent.signal);
    deadline.clear();
    await pass(clock, 10_000);
    parent.abort(late);
    expect(clock.waiting).toBe(0);
    expect(deadline.signal.aborted).toBe(false);
  });
});
