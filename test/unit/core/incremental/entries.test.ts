import { describe, expect, test } from '@jest/globals';
import { Entries, facetNames, replaceContributions } from '../../../../src/core/incremental/entries.ts';

function entriesOf(...entries: readonly string[]): Entries {
  const result = new Entries();
  for (const entry of entries) result.add(entry);
  result.settle();
  return result;
}

function different(entries: Entries): readonly string[] {
  return facetNames.filter((facet) => entries.differs(facet));
}

describe('Entries', () => {
  test('an entry stays until all who added it took it back', () => {
    const entries = entriesOf('a', 'a', 'a');
    expect(entries.size).toBe(1);
    entries.remove('a');
    entries.remove('a');
    expect(different(entries)).toEqual([]);
    expect(entries.list).toEqual(['a']);
    entries.remove('a');
    expect(different(entries)).toEqual(['list', 'count', 'first', 'last']);
    expect(entries.list).toEqual([]);
  });

  test('one entry becomes several, and several become one again', () => {
    const entries = entriesOf('b');
    const copy = entries.fork();
    copy.add('a');
    entries.add('c');
    expect([entries.list, entries.first, entries.size]).toEqual([['b', 'c'], 'b', 2]);
    expect([copy.list, copy.first, copy.size]).toEqual([['a', 'b'], 'a', 2]);
    for (const entry of ['b', 'c']) entries.remove(entry);
    expect([entries.list, entries.first, entries.size]).toEqual([[], undefined, 0]);
    entries.add('d');
    expect([entries.list, entries.first, entries.size]).toEqual([['d'], 'd', 1]);
  });

  test('only those facets differ that changed', () => {
    const entries = entriesOf('b', 'd');
    entries.add('c');
    expect(different(entries)).toEqual(['list', 'count']);
    entries.settle();
    entries.remove('c');
    entries.add('e');
    expect(different(entries)).toEqual(['list', 'last']);
    entries.settle();
    entries.add('a');
    entries.remove('e');
    expect(different(entries)).toEqual(['list', 'first', 'last']);
  });

  test('that there are several differs with the second entry only', () => {
    const entries = entriesOf('b');
    entries.add('b');
    expect([entries.read('several'), different(entries)]).toEqual([false, []]);
    entries.add('c');
    expect([entries.read('several'), different(entries)]).toEqual([true, ['list', 'count', 'several', 'last']]);
    entries.settle();
    entries.add('d');
    expect([entries.read('several'), different(entries)]).toEqual([true, ['list', 'count', 'last']]);
    entries.remove('d');
    entries.remove('c');
    expect([entries.read('several'), different(entries)]).toEqual([false, ['list', 'count', 'several', 'last']]);
  });

  test('that there are many differs with the entry 1,025 only', () => {
    const entries = entriesOf(...Array.from({ length: 1_024 }, (_, index) => `b${index}`));
    expect(entries.read('many')).toBe(false);
    entries.add('c');
    expect([entries.read('many'), different(entries)]).toEqual([true, ['list', 'count', 'many', 'last']]);
    entries.settle();
    entries.add('d');
    expect([entries.read('many'), different(entries)]).toEqual([true, ['list', 'count', 'last']]);
    entries.remove('d');
    entries.remove('c');
    expect([entries.read('many'), different(entries)]).toEqual([false, ['list', 'count', 'many', 'last']]);
  });

  test('what comes and goes before it is settled makes no difference', () => {
    const entries = entriesOf('b');
    entries.remove('b');
    entries.add('a');
    entries.add('b');
    entries.remove('a');
    expect(different(entries)).toEqual([]);
  });

  test('a fork counts contributors and changes from where it began', () => {
    const entries = entriesOf('a', 'a');
    entries.add('b');
    const fork = entries.fork();
    expect(different(fork)).toEqual([]);
    fork.remove('a');
    expect(fork.list).toEqual(['a', 'b']);
    fork.remove('a');
    expect(fork.list).toEqual(['b']);
    expect(entries.list).toEqual(['a', 'b']);
    entries.remove('a');
    expect(entries.list).toEqual(['a', 'b']);
  });
});

describe('replaceContributions', () => {
  test('opens no bucket whose contributions stay', () => {
    const buckets = new Map([
      ['x', entriesOf('1', '2')],
      ['y', entriesOf('3')],
    ]);
    const opened: string[] = [];
    const open = (bucket: string): Entries => {
      opened.push(bucket);
      return buckets.get(bucket) ?? new Entries();
    };
    const before = [
      { bucket: 'x', entry: '1' },
      { bucket: 'y', entry: '3' },
      { bucket: 'x', entry: '2' },
    ];
    replaceContributions({ open }, before, [
      { bucket: 'x', entry: '1' },
      { bucket: 'y', entry: '4' },
    ]);
    expect(buckets.get('x')?.list).toEqual(['1']);
    expect(buckets.get('y')?.list).toEqual(['4']);
    expect(opened).toEqual(['y', 'y', 'x']);
  });
});
