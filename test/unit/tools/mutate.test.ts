import { describe, expect, test } from '@jest/globals';
import { diffOf, sample, survivorsOf, testsOf, type Candidate } from '../../../tools/mutate.ts';

const candidate = (text: string): Candidate => ({
  file: 'src/a.ts',
  line: 1,
  what: 'change',
  text,
  limit: 1,
  tests: ['test/unit/a.test.ts'],
});

test('the mutants whose tests pass survive, and are reported at once', async () => {
  const told: string[] = [];
  const survivors = await survivorsOf(
    ['a', 'b', 'c'].map(candidate),
    ({ text }) => Promise.resolve(text !== 'b'),
    ({ text }) => told.push(text),
  );
  expect(survivors.map(({ text }) => text)).toEqual(['a', 'c']);
  expect(told).toEqual(['a', 'c']);
});

describe('a sample', () => {
  const entries = Array.from({ length: 100 }, (_, index) => index);

  test('is the same for the same seed, in order, without repetition', () => {
    const taken = sample(entries, 10, 7);
    expect(taken).toHaveLength(10);
    expect(taken).toEqual(sample(entries, 10, 7));
    expect(taken).toEqual([...new Set(taken)].toSorted((one, other) => one - other));
    expect(taken).not.toEqual(sample(entries, 10, 8));
  });

  test.each([0, 100, 1_000])('of %i is everything', (count) => {
    expect(sample(entries, count, 1)).toEqual(entries);
  });
});

test.each([
  ['a\nb\nc', 'a\nx\nc', '  -b\n  +x'],
  ['a\nb\nb\nc', 'a\nb\nc', '  -b'],
  ['a\nb\nc\nd', 'a\n;\nd', '  -b\n  -c\n  +;'],
])('the diff of %j and %j', (before, after, diff) => {
  expect(diffOf(before, after)).toBe(diff);
});

test('the tests of a source are its unit test and those that import it', () => {
  const texts: Record<string, string> = {
    'test/unit/proxy/a.test.ts': '',
    'test/unit/proxy/b.test.ts': "import { a } from '../../../src/proxy/a.ts';",
    'test/integration/proxy/c.test.ts': "import { a } from '../../../src/proxy/aa.ts';",
    'test/property/d.test.ts': "import { a } from '../../src/proxy/a.ts';",
  };
  expect(testsOf('src/proxy/a.ts', Object.keys(texts), (test) => texts[test] ?? '')).toEqual([
    'test/unit/proxy/a.test.ts',
    'test/unit/proxy/b.test.ts',
    'test/property/d.test.ts',
  ]);
});
