import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type StreamRoute = ViewAt<'TCPRoute', 'spec'>;

export const ruleBeyondFirst = unenforcedRule(
  {
    id: 'rule-beyond-first',
    summary: 'A route has more than one rule, which v1 of its kind rejects.',
    effect: warned,
    source: 'Gateway API v1.7.0, TLSRouteSpec.rules, TCPRouteSpec.rules and UDPRouteSpec.rules (exactly one)',
  },
  function judge({ rules = [] }: StreamRoute, report) {
    if (rules.length < 2) return;
    report({
      below: ['rules', 1],
      value: String(rules.length),
      message:
        'Too many rules: v1 of this kind allows exactly one. The other rules get no traffic, and the route cannot be converted to v1. Use one rule with all backendRefs.',
    });
  },
);
