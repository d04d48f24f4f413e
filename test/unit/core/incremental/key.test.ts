import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { argsOf, keyOf } from '../../../../src/core/incremental/key.ts';

test('different arguments have different keys, whatever characters they contain', () => {
  const awkward = fc.array(fc.string({ unit: fc.constantFrom('\u0000', '\u0001', 'a', 'b', '/') }), { maxLength: 3 });
  fc.assert(
    fc.property(awkward, awkward, (left, right) => {
      expect(keyOf(left) === keyOf(right)).toBe(JSON.stringify(left) === JSON.stringify(right));
    }),
    { numRuns: 5000 },
  );
});

test('a key holds its arguments, whatever characters they contain', () => {
  const awkward = fc.array(fc.string({ unit: fc.constantFrom('\u0000', '\u0001', 'a', 'b', '/') }), { maxLength: 6 });
  fc.assert(
    fc.property(awkward, awkward, (args, others) => {
      const key = keyOf(args);
      // Only the last arguments are remembered.
      keyOf(others);
      expect(argsOf(key)).toEqual(args);
    }),
    { numRuns: 5000 },
  );
});

test.each([
  [[], ['']],
  [[''], ['', '']],
  [['a', 'b'], ['a\u0000b']],
  [['\u0001'], []],
  [['\u0001a'], ['\u0000']],
  [
    ['a\u0001', 'b'],
    ['a', '\u0001b'],
  ],
])('%j and %j are apart', (left, right) => {
  expect(keyOf(left)).not.toBe(keyOf(right));
});
