import { describe, expect, test } from '@jest/globals';
import { ruleNameRepeated } from '../../../../src/core/rules/rule-name-repeated.ts';
import { consequences, judge, routeWith } from '../../../support/rules.ts';

describe('rule-name-repeated', () => {
  test('different and absent names are fine', () => {
    expect(judge(ruleNameRepeated, routeWith({ name: 'a' }, {}, { name: 'b' }, {}, { name: 'A' }, { name: 1 }, { name: 2 }))).toEqual([]);
  });

  test('a name given again', () => {
    const route = routeWith({ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'a' });
    const message = 'The rule name "a" is taken by rules[0]. Give this rule another name, or leave name out.';
    expect(judge(ruleNameRepeated, route)).toEqual([
      ['spec.rules[2].name', message],
      ['spec.rules[3].name', message],
    ]);
    expect(consequences(ruleNameRepeated, route)).toEqual(['none', 'none']);
  });
});
