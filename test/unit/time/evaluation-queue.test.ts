import { describe, expect, test } from '@jest/globals';
import {
  createKernel,
  defineEmission,
  defineInput,
  write,
  type Delta,
  type Write,
} from '../../../src/core/incremental/index.ts';
import { EvaluationQueue } from '../../../src/time/evaluation-queue.ts';

const objects = defineInput<number>('objects');
const put = (value: number, name = 'one'): Write => write(objects, ['Thing', name], value);

/** A queue whose evaluation takes one millisecond for each object, by its own clock. */
function queue() {
  let time = 0;
  const values = defineEmission<number>({
    name: 'values',
    stratum: 0,
    over: { input: objects, populations: ['Thing'] },
    *emit(read, kind = '', name = '') {
      time += 1;
      const value = read.input(objects, kind, name) ?? 0;
      if (value < 0) throw new Error('negative');
      yield { key: name, value };
    },
  });
  const kernel = createKernel({ indexes: [], emissions: [values] });
  const evaluation = new EvaluationQueue(kernel, () => time);
  const seen: string[] = [];
  const note = (delta: Delta): void => {
    const { upserted } = delta.of(values);
    seen.push(upserted.size === 1 ? String([...upserted.values()]) : `${upserted.size} values`);
  };
  const pass = (milliseconds: number): void => {
    time += milliseconds;
  };
  return { evaluation, seen, note, values, pass };
}

async function allApplied(evaluation: EvaluationQueue): Promise<void> {
  for (let wait = evaluation.applied; wait !== undefined; wait = evaluation.applied) await wait;
}

const many = Array.from({ length: 100 }, (_, number) => put(number, `thing ${number}`));

/** Counts turns of the event loop until `stop`. */
function turns(): () => number {
  let count = 0;
  const next = (): void => {
    count += 1;
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  return () => {
    clearImmediate(timer);
    return count;
  };
}

describe('the evaluation queue', () => {
  test('applies a small change at once', () => {
    const { evaluation, seen, note } = queue();
    expect(evaluation.apply([put(1)], note)).toBe(1);
    expect(seen).toEqual(['1']);
    expect([evaluation.readable, evaluation.applied]).toEqual([undefined, undefined]);
  });

  test('lets others have their turns during a change of many results, and reports its work alone', async () => {
    const { evaluation, seen, note } = queue();
    const counted = turns();
    const applied = evaluation.apply(many, note);
    expect(seen).toEqual([]);
    expect(await applied).toBe(many.length);
    expect(counted()).toBeGreaterThanOrEqual(many.length / 10 - 1);
    expect(seen).toEqual(['100 values']);
  });

  test('writes that take long to read are read in slices, before those of later calls', async () => {
    const { evaluation, seen, note, pass } = queue();
    function* read() {
      for (let step = 0; step < 100; step += 1) {
        pass(1);
        yield;
      }
      return many;
    }
    const stop = turns();
    const applied = evaluation.applyRead(read(), note);
    void evaluation.apply([put(1)], note);
    expect(await applied).toBe(200);
    expect(stop()).toBeGreaterThan(15);
    await allApplied(evaluation);
    expect(seen).toEqual(['100 values', '1']);
  });

  test('prepares each change in steps before its followers are called', async () => {
    const { evaluation, seen, note } = queue();
    evaluation.prepare = function* (delta) {
      note(delta);
      yield;
      seen.push('prepared');
    };
    await evaluation.apply([put(1)], note);
    expect(seen).toEqual(['1', 'prepared', '1']);
    await evaluation.apply(many, note);
    expect(seen.slice(3)).toEqual(['100 values', 'prepared', '100 values']);
  });

  test('lets others have a turn between a slice that is used up and the next step', async () => {
    const { evaluation, note } = queue();
    const counted = turns();
    let before = 0;
    evaluation.prepare = function* () {
      before = counted();
      yield;
    };
    await evaluation.apply(many.slice(0, 10), note);
    expect(before).toBeGreaterThan(0);
  });

  test('applies later changes afterwards, in order', async () => {
    const { evaluation, seen, note } = queue();
    const first = evaluation.apply(many, note);
    const others = [1, 2].map(async (value) => await evaluation.apply([put(value)], note));
    expect(seen).toEqual([]);
    await first;
    await Promise.all(others);
    await allApplied(evaluation);
    expect(seen).toEqual(['100 values', '1', '2']);
    expect(evaluation.readable).toBeUndefined();
  });

  test('lets others read between two changes, and tells when earlier ones are applied', async () => {
    const { evaluation, seen, note, pass } = queue();
    expect([evaluation.readable, evaluation.applied]).toEqual([undefined, undefined]);
    void evaluation.apply(many, note);
    const { applied } = evaluation;
    const wrong = many.map((_, number) => put(-1, `thing ${number}`));
    const second = evaluation.apply(wrong, note);
    // Rejected before it is awaited.
    void Promise.allSettled([second]);
    const bothApplied = evaluation.applied;
    void evaluation.apply([put(2)], note);
    const all = evaluation.applied;
    for (const [expected, promise] of [
      [['100 values'], applied],
      [['100 values'], bothApplied],
      [['100 values', '2'], all],
    ]) {
      await evaluation.readable;
      expect(evaluation.readable).toBeUndefined();
      expect(seen).toEqual(expected);
      await promise;
      expect(seen).toEqual(expected);
      while (evaluation.applied !== undefined && evaluation.readable === undefined) {
        pass(10);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await expect(second).rejects.toThrow('100 computations failed');
    await allApplied(evaluation);
    expect([evaluation.readable, evaluation.applied]).toEqual([undefined, undefined]);
  });

  test('lets others read for as long as a change took before the next one begins', async () => {
    const { evaluation, seen, note, pass } = queue();
    const reader = (async () => {
      let slices = 0;
      while (seen.length < 2) {
        if (evaluation.readable === undefined && seen.length === 1) {
          pass(10);
          slices += 1;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      return slices;
    })();
    void evaluation.apply(many, note);
    void evaluation.apply(
      many.map((_, number) => put(200, `thing ${number}`)),
      note,
    );
    await allApplied(evaluation);
    // The change took 100 milliseconds.
    expect(await reader).toBeGreaterThanOrEqual(10);
  });

  test('lets a change wait that comes right after one that took long', async () => {
    const { evaluation, seen, note } = queue();
    void evaluation.apply(many, note);
    await allApplied(evaluation);
    expect([evaluation.readable, evaluation.applied]).toEqual([undefined, undefined]);
    const next = evaluation.apply([put(1)], note);
    expect(seen).toEqual(['100 values']);
    await next;
    expect(seen).toEqual(['100 values', '1']);
  });

  test('applies the changes of followers', async () => {
    const { evaluation, seen, note } = queue();
    await evaluation.apply(many, (delta) => {
      note(delta);
      void evaluation.apply([put(1)], note);
    });
    await allApplied(evaluation);
    void evaluation.apply([put(2)], (delta) => {
      note(delta);
      void evaluation.apply([put(3)], note);
    });
    expect(seen).toEqual(['100 values', '1', '2', '3']);
  });

  test('passes errors to the one whose change caused them, and continues', async () => {
    const { evaluation, seen, note } = queue();
    expect(() => evaluation.apply([put(-1)], note)).toThrow('negative');
    const first = evaluation.apply([...many, put(-2)], note);
    const second = evaluation.apply([put(-3)], note);
    const third = evaluation.apply([put(4)], () => {
      throw new Error('cannot follow');
    });
    const last = evaluation.apply([put(5)], note);
    await expect(first).rejects.toThrow('negative');
    await expect(second).rejects.toThrow('negative');
    await expect(third).rejects.toThrow('cannot follow');
    await last;
    expect(seen.at(-1)).toBe('5');
  });
});
