import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { SortedStrings } from '../../../../src/core/incremental/sorted-strings.ts';

function toggle(set: SortedStrings, entry: string): void {
  if (set.has(entry)) set.delete(entry);
  else set.insert(entry);
}

function toggleIn(set: Set<string>, entry: string): void {
  if (!set.delete(entry)) set.add(entry);
}

interface Content {
  readonly list: readonly string[];
  readonly size: number;
  readonly first: string | undefined;
}

function contentOf(set: SortedStrings): Content {
  return { list: set.toArray(), size: set.size, first: set.first };
}

function sortedContent(entries: Iterable<string>): Content {
  const list = [...entries].sort();
  return { list, size: list.length, first: list[0] };
}

const manyNumbers = fc.array(fc.nat(3000), { minLength: 1000, maxLength: 3000, size: 'max' });

describe('SortedStrings', () => {
  test('behaves as a sorted array of a set, over many blocks', () => {
    fc.assert(
      fc.property(manyNumbers, (numbers) => {
        const actual = new SortedStrings();
        const expected = new Set<string>();
        for (const number of numbers) {
          toggle(actual, `n${number}`);
          toggleIn(expected, `n${number}`);
        }
        expect(contentOf(actual)).toEqual(sortedContent(expected));
        for (const entry of expected) {
          toggle(actual, entry);
          expected.delete(entry);
        }
        expect(contentOf(actual)).toEqual(sortedContent(expected));
      }),
      { numRuns: 20 },
    );
  });

  test('orders by UTF-16 code units', () => {
    const set = new SortedStrings();
    for (const entry of ['\uFFFF', '\u{10000}', 'a', 'Z', 'é', '']) set.insert(entry);
    expect(set.toArray()).toEqual(['', 'Z', 'a', 'é', '\u{10000}', '\uFFFF']);
  });

  test('hands out arrays that never change, and the same one until the set changes', () => {
    const set = new SortedStrings();
    set.insert('b');
    const before = set.toArray();
    expect(set.toArray()).toBe(before);
    set.insert('a');
    expect(before).toEqual(['b']);
    expect(set.toArray()).toEqual(['a', 'b']);
    set.delete('b');
    expect(set.toArray()).toEqual(['a']);
  });

  test('forks change without the original', () => {
    fc.assert(
      fc.property(manyNumbers, fc.array(fc.nat(3000), { maxLength: 500 }), (numbers, changes) => {
        const original = new SortedStrings();
        for (const number of new Set(numbers)) original.insert(`n${number}`);
        const before = [...original.toArray()];
        const fork = original.fork();
        const expected = new Set(before);
        for (const number of changes) {
          toggle(fork, `n${number}`);
          toggleIn(expected, `n${number}`);
        }
        expect(contentOf(fork)).toEqual(sortedContent(expected));
        expect(contentOf(original)).toEqual(sortedContent(before));
        toggle(original, 'other');
        expect(original.toArray()).toEqual([...before, 'other'].sort());
      }),
      { numRuns: 20 },
    );
  });
});
