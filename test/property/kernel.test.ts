import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  anyBatch,
  anyBatches,
  anyWrite,
  cellName,
  changesOf,
  copyOf,
  emittedOf,
  finalState,
  freshKernel,
  newKernel,
  readAll,
  removalOf,
  sizesOf,
} from './kernel-model.ts';

describe('an incremental kernel', () => {
  test('gives after any sequence of batches what a fresh one gives for the final state', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const fresh = freshKernel(finalState(batches));
        expect(emittedOf(kernel)).toEqual(emittedOf(fresh));
        expect(sizesOf(kernel)).toEqual(sizesOf(fresh));
        expect(readAll(kernel.read)).toEqual(readAll(fresh.read));
      }),
      { numRuns: 500 },
    );
  });

  test('is right after every batch, also when the outside reads in between', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        const kernel = newKernel();
        batches.forEach((batch, position) => {
          kernel.apply(batch);
          const fresh = freshKernel(finalState(batches.slice(0, position + 1)));
          expect(readAll(kernel.read)).toEqual(readAll(fresh.read));
          expect(emittedOf(kernel)).toEqual(emittedOf(fresh));
        });
      }),
    );
  });

  test('is right when it applies batches in steps and the outside reads between two of them', () => {
    fc.assert(
      fc.property(anyBatches, fc.array(fc.nat(30), { minLength: 1 }), (batches, pauses) => {
        const kernel = newKernel();
        const content = new Map<string, unknown>();
        batches.forEach((batch, position) => {
          const fresh = freshKernel(finalState(batches.slice(0, position + 1)));
          const pause = pauses[position % pauses.length] ?? 0;
          const steps = kernel.applyInSteps(batch);
          let step = 0;
          let result = steps.next();
          for (; result.done !== true; result = steps.next(), step += 1) {
            if (step < pause) expect(emittedOf(kernel)).toEqual(content);
            if (step === pause) expect(readAll(kernel.read)).toEqual(readAll(fresh.read));
          }
          const { upserted, removed } = changesOf(result.value);
          for (const key of removed) content.delete(key);
          for (const [key, value] of upserted) content.set(key, value);
          expect(content).toEqual(emittedOf(fresh));
          expect(emittedOf(kernel)).toEqual(content);
          expect(readAll(kernel.read)).toEqual(readAll(fresh.read));
        });
      }),
    );
  });

  test('reports deltas that add up to its content and mention nothing that did not change', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        const kernel = newKernel();
        const content = new Map<string, unknown>();
        for (const batch of batches) {
          const { upserted, removed } = changesOf(kernel.apply(batch));
          for (const key of removed) expect(content.delete(key)).toBe(true);
          for (const [key, value] of upserted) {
            expect(content.get(key)).not.toEqual(value);
            content.set(key, value);
          }
          expect(content).toEqual(emittedOf(kernel));
        }
      }),
    );
  });

  test('does not depend on the order of writes to different cells, nor on how they are batched', () => {
    const shuffled = fc
      .uniqueArray(anyWrite, { selector: cellName, maxLength: 12 })
      .chain((writes) =>
        fc.tuple(fc.constant(writes), fc.shuffledSubarray(writes, { minLength: writes.length }), fc.nat(12)),
      );
    fc.assert(
      fc.property(anyBatch, shuffled, (start, [writes, others, cut]) => {
        const one = newKernel();
        one.apply(start);
        one.apply(writes);
        const other = newKernel();
        other.apply(start);
        other.apply(others.slice(0, cut));
        other.apply(others.slice(cut));
        expect(emittedOf(other)).toEqual(emittedOf(one));
        expect(sizesOf(other)).toEqual(sizesOf(one));
        expect(readAll(other.read)).toEqual(readAll(one.read));
      }),
    );
  });

  test('keeps no node when everything is deleted', () => {
    fc.assert(
      fc.property(anyBatches, fc.boolean(), (batches, isReadInBetween) => {
        const kernel = newKernel();
        for (const batch of batches) {
          kernel.apply(batch);
          if (isReadInBetween) readAll(kernel.read);
        }
        kernel.apply([...finalState(batches).values()].map(removalOf));
        expect(kernel.statistics().nodes).toBe(0);
        expect(emittedOf(kernel).size).toBe(0);
      }),
    );
  });

  test('runs nothing for writes that change nothing', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const before = kernel.statistics();
        kernel.apply([...finalState(batches).values()].map(copyOf));
        expect(kernel.statistics()).toEqual(before);
      }),
    );
  });
});
