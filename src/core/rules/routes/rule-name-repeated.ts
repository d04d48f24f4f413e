import { unreadableString } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import type { RouteRule } from './rule-contents.ts';

/** Standard bundles before v1.7 have the field, but not the check. Traffic does not depend on names. */
export const ruleNameRepeated = unenforcedRule(
  {
    id: 'rule-name-repeated',
    summary: 'Two rules of a route have the same name.',
    effect: denied,
    source: 'Gateway API v1.7.0, HTTPRouteRule.name ("MUST be unique within a Route")',
  },
  function judge(rules: readonly Pick<RouteRule, 'name'>[], report) {
    const first = new Map<string, number>();
    for (const [index, { name }] of rules.entries()) {
      if (name === undefined || name === unreadableString) continue;
      const before = first.get(name);
      if (before === undefined) first.set(name, index);
      else
        report({
          below: [index, 'name'],
          value: display(name),
          message: `Duplicate rule name ${quote(name)}: spec.rules[${before}] has the same name. Use another name, or remove name.`,
        });
    }
  },
);
