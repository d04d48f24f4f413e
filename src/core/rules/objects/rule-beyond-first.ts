import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

interface StreamRoute {
  readonly rules?: readonly unknown[];
}

export const ruleBeyondFirst = unenforcedRule({
  id: 'rule-beyond-first',
  summary: 'A route has more than one rule, which v1 of its kind refuses.',
  effect: warned,
  source: 'Gateway API v1.7.0, TLSRouteSpec.rules, TCPRouteSpec.rules and UDPRouteSpec.rules (exactly one)',
}, function judge({ rules = [] }: StreamRoute, report) {
  if (rules.length < 2) return;
  report({ below: ['rules', 1], value: String(rules.length), message: 'v1 of this kind has exactly one rule, so this route cannot be written as v1, and the rules after the first get no traffic. Write one rule with all backendRefs.' });
});
