import { describe, expect, test } from '@jest/globals';
import { memberOf, valueAt } from '../../../../src/core/text/record.ts';

const json: unknown = { spec: { rules: [{ name: 'first' }, null] }, metadata: null, '0': 'zero' };

describe('valueAt', () => {
  test.each<[readonly (string | number)[], unknown]>([
    [[], json],
    [['spec', 'rules', 0, 'name'], 'first'],
    [['spec', 'rules', '0', 'name'], 'first'],
    [['spec', 'rules', 1], null],
    [['spec', 'rules', 1, 'name'], undefined],
    [['spec', 'rules', 2], undefined],
    [['spec', 'rules', 'length'], undefined],
    [['metadata'], null],
    [['metadata', 'name'], undefined],
    [['spec', 'rules', 0, 'name', 'length'], undefined],
    [[0], 'zero'],
    [['toString'], undefined],
    [['__proto__'], undefined],
  ])('%j', (path, expected) => {
    expect(valueAt(json, path)).toEqual(expected);
  });
});

describe('memberOf', () => {
  test.each([undefined, null, 'text', 5, true])('%j has no members', (value) => {
    expect(memberOf(value, 'length')).toBeUndefined();
    expect(memberOf(value, 0)).toBeUndefined();
  });
});
