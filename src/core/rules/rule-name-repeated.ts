import { unreadableString } from '../schema/index.ts';
import { display, quote } from '../text/display.ts';
import { denied } from './effects.ts';
import { routeRules } from './parts.ts';
import { rule } from './rule.ts';

/** Standard bundles before v1.7 have the field without the check. Traffic does not depend on names. */
export const ruleNameRepeated = rule({
  id: 'rule-name-repeated',
  kinds: ['HTTPRoute'],
  summary: 'Two rules of a route have the same name.',
  effect: denied,
  source: 'Gateway API v1.7.0, HTTPRouteRule.name ("MUST be unique within a Route")',
  check(route, _read, report) {
    const first = new Map<string, number>();
    for (const [index, { rule: { name }, path }] of routeRules(route).entries()) {
      if (name === undefined || name === unreadableString) continue;
      const before = first.get(name);
      if (before === undefined) first.set(name, index);
      else report({ path: [...path, 'name'], value: display(name), message: `The rule name ${quote(name)} is taken by rules[${before}]. Give this rule another name, or leave name out.` });
    }
  },
});
