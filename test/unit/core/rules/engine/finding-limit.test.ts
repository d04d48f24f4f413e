import { expect, test } from '@jest/globals';
import { findingsPerRule, FindingsOfRule } from '../../../../../src/core/rules/engine/finding-limit.ts';
import type { Consequence } from '../../../../../src/core/rules/engine/rule.ts';

const consequence: Consequence = { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' };

function inFilter(filter: number, index: number) {
  const path = ['spec', 'rules', 0, 'filters', filter, 'requestHeaderModifier', 'remove', index];
  return { rule: 'a-rule', path, consequence, message: 'Duplicate.' };
}

test('beyond the limit, one finding for each part is kept, and the rule learns which are not', () => {
  const findings = new FindingsOfRule();
  for (let index = 0; index < findingsPerRule; index += 1) expect(findings.add(inFilter(0, index))).toBe(true);
  expect(findings.add(inFilter(0, findingsPerRule))).toBe(false);
  expect(findings.add(inFilter(1, 0))).toBe(true);
  expect(findings.add(inFilter(1, 1))).toBe(false);
  expect(findings.found).toHaveLength(findingsPerRule + 1);
});
