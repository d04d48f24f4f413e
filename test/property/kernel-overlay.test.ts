import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  allReads,
  anyBatch,
  anyBatches,
  copyOf,
  emittedOf,
  finalState,
  freshKernel,
  newKernel,
  observed,
  readAll,
} from './kernel-model.ts';

describe('an overlay', () => {
  test('reads as a fresh kernel over the merged state, in any order of reading, buckets included', () => {
    fc.assert(
      fc.property(anyBatches, anyBatch, fc.infiniteStream(fc.nat()), (batches, writes, random) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const merged = freshKernel(finalState([...batches, writes]));
        const actual = allReads(kernel.overlay(writes).read);
        const expected = allReads(merged.read);
        const order = expected.map((_, position) => ({ position, weight: random.next().value }));
        for (const { position } of order.sort((left, right) => left.weight - right.weight)) {
          expect(actual[position]?.()).toEqual(expected[position]?.());
        }
      }),
      { numRuns: 500 },
    );
  });

  test('leaves the base untouched', () => {
    fc.assert(
      fc.property(anyBatches, anyBatch, anyBatch, (batches, writes, later) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const emitted = emittedOf(kernel);
        const statistics = kernel.statistics();
        const overlay = kernel.overlay(writes);
        const held = readAll(overlay.read);
        const heldAsText = JSON.stringify(held);
        for (const query of observed) Array.from(overlay.affected(query));
        expect(emittedOf(kernel)).toEqual(emitted);
        expect(kernel.statistics()).toEqual(statistics);
        kernel.apply(later);
        expect(emittedOf(kernel)).toEqual(emittedOf(freshKernel(finalState([...batches, later]))));
        expect(JSON.stringify(held)).toBe(heldAsText);
      }),
    );
  });

  test('finds every live result that differs, and none that does not', () => {
    fc.assert(
      fc.property(anyBatches, anyBatch, fc.constantFrom(...observed), (batches, writes, query) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const before = freshKernel(finalState(batches));
        const after = freshKernel(finalState([...batches, writes]));
        const found = new Set<string>();
        for (const { args, before: old, after: young } of kernel.overlay(writes).affected(query)) {
          expect(found).not.toContain(JSON.stringify(args));
          found.add(JSON.stringify(args));
          expect(old()).toEqual(before.read.query(query, ...args));
          expect(young()).toEqual(after.read.query(query, ...args));
          expect(old()).not.toEqual(young());
        }
        // Present things are those whose results the kernel surely keeps.
        for (const {
          input,
          args: [kind = '', name = ''],
        } of finalState(batches).values()) {
          if (input.name !== 'thing') continue;
          const differs =
            JSON.stringify(before.read.query(query, kind, name)) !==
            JSON.stringify(after.read.query(query, kind, name));
          expect(found.has(JSON.stringify([kind, name]))).toBe(differs);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('computes nothing again that the writes do not reach', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        const kernel = newKernel();
        for (const batch of batches) kernel.apply(batch);
        const again = [...finalState(batches).values()].map(copyOf);
        for (const query of observed) {
          expect([...kernel.overlay(again).affected(query)]).toEqual([]);
        }
      }),
    );
  });
});
