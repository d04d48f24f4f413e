import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './listener-details.ts';

export const routeKindRepeated = unenforcedRule(
  {
    id: 'route-kind-repeated',
    summary: 'allowedRoutes.kinds has duplicate entries.',
    effect: warned,
    source: 'Gateway API v1.7.0, AllowedRoutes.kinds',
  },
  function judge(kinds: readonly Reference[], report) {
    for (const [index, { group, kind }] of kinds.entries()) {
      const before = kinds.findIndex((other) => other.group === group && other.kind === kind);
      if (before !== index)
        report({
          below: [index],
          value: display(kind ?? ''),
          message: `Duplicate kind ${quote(kind)}: kinds[${before}] is the same. Remove this entry, or correct the kind.`,
        });
    }
  },
);
