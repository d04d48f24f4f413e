import { describe, expect, test } from '@jest/globals';
import { selectorMatches, selectorProblems } from '../../../../src/core/text/selector.ts';

const labels = { team: 'shop', tier: '' };

describe('selectorMatches', () => {
  test.each<[unknown, boolean]>([
    [{}, true],
    [{ matchLabels: {}, matchExpressions: [] }, true],
    [{ matchLabels: { team: 'shop' } }, true],
    [{ matchLabels: { tier: '' } }, true],
    [{ matchLabels: { team: 'cart' } }, false],
    [{ matchLabels: { constructor: 'x' } }, false],
    [{ matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['cart', 'shop'] }] }, true],
    [{ matchExpressions: [{ key: 'other', operator: 'In', values: ['shop'] }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['shop'] }] }, false],
    [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['shop'] }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'other', operator: 'Exists' }] }, false],
    [{ matchExpressions: [{ key: 'other', operator: 'DoesNotExist', values: [] }] }, true],
    // Nothing that cannot be understood selects.
    [undefined, false],
    [null, false],
    ['x', false],
    [[], false],
    [{ matchLabels: [] }, false],
    [{ matchExpressions: {} }, false],
    [{ matchExpressions: [null] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'Equals', values: ['shop'] }] }, false],
  ])('%j: %s', (selector, expected) => {
    expect(selectorMatches(selector, labels)).toBe(expected);
  });

  test('a selector is read once, however many objects it is compared with', () => {
    let reads = 0;
    const selector = {
      get matchLabels() {
        reads += 1;
        return { team: 'shop' };
      },
    };
    const objects = [labels, { team: 'cart' }, { team: 'shop' }, labels];
    expect(objects.map((own) => selectorMatches(selector, own))).toEqual([true, false, true, true]);
    expect(selectorProblems(selector)).toEqual([]);
    expect(reads).toBe(1);
  });

  test('a label called __proto__ is a label', () => {
    const odd = JSON.parse('{"__proto__": "x"}') as Record<string, string>;
    const selector: unknown = JSON.parse('{"matchExpressions": [{"key": "__proto__", "operator": "Exists"}]}');
    expect(selectorProblems(selector)).toHaveLength(1);
    expect(selectorMatches(selector, odd)).toBe(false);
    expect(selectorMatches({ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, odd)).toBe(false);
  });
});

test('a selector that consists of problems is read up to the 32nd', () => {
  const labels = Array.from({ length: 100 }, (_, index) => [`bad key ${index}`, 'x']);
  const matchExpressions = Array.from({ length: 100 }, () => ({ key: 'tier', operator: 'Is', values: ['gold'] }));
  for (const selector of [{ matchLabels: Object.fromEntries(labels) }, { matchExpressions }]) {
    expect(selectorProblems(selector)).toHaveLength(32);
    expect(selectorMatches(selector, {})).toBe(false);
  }
});

test('of the values of one label, the first problem is described', () => {
  let reads = 0;
  const values = Array.from({ length: 100 }, () => '-');
  Object.defineProperty(values, 50, {
    get() {
      reads += 1;
      return '-';
    },
  });
  expect(selectorProblems({ matchExpressions: [{ key: 'a', operator: 'In', values }] })).toHaveLength(1);
  expect(reads).toBe(0);
});

describe('selectorProblems', () => {
  const nameRule = 'Use at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';
  test.each<[unknown, readonly (string | number)[], string]>([
    [null, [], 'must be an object. Set matchLabels or matchExpressions'],
    [{ matchLabels: 'a' }, ['matchLabels'], 'matchLabels must be an object, not "a". Use label keys and their values'],
    [{ matchLabels: { 'a b': 'x' } }, ['matchLabels', 'a b'], `invalid label key "a b". ${nameRule}`],
    [
      { matchLabels: { 'A/b': 'x' } },
      ['matchLabels', 'A/b'],
      'invalid label key "A/b": its prefix is not a DNS name. Use a DNS name in lower case before "/", for example example.com/b',
    ],
    [{ matchLabels: { a: 'b c' } }, ['matchLabels', 'a'], `invalid label value "b c". ${nameRule}`],
    [{ matchLabels: { a: true } }, ['matchLabels', 'a'], 'label values must be strings, not true. Put it in quotes'],
    [
      { matchExpressions: 1 },
      ['matchExpressions'],
      'matchExpressions must be a list, not 1. Use entries with key, operator and values',
    ],
    [
      { matchExpressions: [1] },
      ['matchExpressions', 0],
      'each requirement must be an object, not 1. Set key, operator and values',
    ],
    [
      { matchExpressions: [{}] },
      ['matchExpressions', 0, 'key'],
      'key must be a string, not nothing. Set the key of a label',
    ],
    [
      { matchExpressions: [{ key: '-', operator: 'Exists' }] },
      ['matchExpressions', 0, 'key'],
      `invalid label key "-". ${nameRule}`,
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'in' }] },
      ['matchExpressions', 0, 'operator'],
      'unsupported operator "in". Use In, NotIn, Exists or DoesNotExist',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      ['matchExpressions', 0, 'values'],
      'values is required with operator In. Set at least one value, or use operator Exists',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] },
      ['matchExpressions', 0, 'values'],
      'values is required with operator NotIn. Set at least one value, or use operator DoesNotExist',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      ['matchExpressions', 0, 'values'],
      'values is not allowed with operator Exists. Remove values, or use operator In',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }] },
      ['matchExpressions', 0, 'values'],
      'values is not allowed with operator DoesNotExist. Remove values, or use operator NotIn',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] },
      ['matchExpressions', 0, 'values'],
      'values must be a list, not "b". Use a list of label values',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 1] }] },
      ['matchExpressions', 0, 'values'],
      'label values must be strings, not 1. Put it in quotes',
    ],
  ])('%j', (selector, path, message) => {
    expect(selectorProblems(selector)).toEqual([{ path, message }]);
  });
});
