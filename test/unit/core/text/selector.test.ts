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

  test('a label called __proto__ is a label', () => {
    const odd = JSON.parse('{"__proto__": "x"}') as Record<string, string>;
    const selector: unknown = JSON.parse('{"matchExpressions": [{"key": "__proto__", "operator": "Exists"}]}');
    expect(selectorProblems(selector)).toHaveLength(1);
    expect(selectorMatches(selector, odd)).toBe(false);
    expect(selectorMatches({ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, odd)).toBe(false);
  });
});

describe('selectorProblems', () => {
  const nameRule = 'write at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';
  test.each<[unknown, readonly (string | number)[], string]>([
    [null, [], 'it is no object; write matchLabels or matchExpressions under it'],
    [{ matchLabels: 'a' }, ['matchLabels'], '"a" is no object; write label names with their values'],
    [{ matchLabels: { 'a b': 'x' } }, ['matchLabels', 'a b'], `"a b" is no label name; ${nameRule}`],
    [{ matchLabels: { 'A/b': 'x' } }, ['matchLabels', 'A/b'], '"A/b" has a prefix that is no DNS name; write one in lower case before "/", e.g. example.com/b'],
    [{ matchLabels: { a: 'b c' } }, ['matchLabels', 'a'], `"b c" is no label value; ${nameRule}`],
    [{ matchLabels: { a: true } }, ['matchLabels', 'a'], 'true is no text; write label values in quotes'],
    [{ matchExpressions: 1 }, ['matchExpressions'], '1 is no list; write entries with key, operator and values'],
    [{ matchExpressions: [1] }, ['matchExpressions', 0], '1 is no object; write key, operator and values'],
    [{ matchExpressions: [{}] }, ['matchExpressions', 0, 'key'], 'nothing is no label name; write one'],
    [{ matchExpressions: [{ key: '-', operator: 'Exists' }] }, ['matchExpressions', 0, 'key'], `"-" is no label name; ${nameRule}`],
    [{ matchExpressions: [{ key: 'a', operator: 'in' }] }, ['matchExpressions', 0, 'operator'], '"in" is no operator; write In, NotIn, Exists or DoesNotExist'],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, ['matchExpressions', 0, 'values'], 'In has no values; list at least one, or use Exists'],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] }, ['matchExpressions', 0, 'values'], 'NotIn has no values; list at least one, or use DoesNotExist'],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }, ['matchExpressions', 0, 'values'], 'Exists takes no values; remove them, or use In'],
    [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }] }, ['matchExpressions', 0, 'values'], 'DoesNotExist takes no values; remove them, or use NotIn'],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] }, ['matchExpressions', 0, 'values'], '"b" is no list; write a list of label values'],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 1] }] }, ['matchExpressions', 0, 'values'], '1 is no text; write label values in quotes'],
  ])('%j', (selector, path, message) => {
    expect(selectorProblems(selector)).toEqual([{ path, message }]);
  });
});
