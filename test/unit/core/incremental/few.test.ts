import { describe, expect, test } from '@jest/globals';
import { few, listed, nothing } from '../../../../src/core/incremental/few.ts';

describe('the smallest form of a list', () => {
  const [one, two] = [{ name: 'one' }, { name: 'two' }];

  test('is shared if it is empty', () => {
    expect(few([])).toBe(nothing);
  });

  test('is the item if there is one', () => {
    expect(few([one])).toBe(one);
  });

  test.each([{ items: [] }, { items: [one] }, { items: [one, two] }, { items: [one, one] }])(
    'gives the list back: $items',
    ({ items }) => {
      expect(listed(few(items))).toEqual(items);
    },
  );
});
