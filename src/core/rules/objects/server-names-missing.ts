import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

export const serverNamesMissing = unenforcedRule(
  {
    id: 'server-names-missing',
    summary: 'A TLSRoute has no hostnames, which v1 rejects.',
    effect: warned,
    source: 'Gateway API v1.7.0, TLSRouteSpec.hostnames (required)',
  },
  function judge({ spec }: WholeObject<{ readonly hostnames?: readonly string[] }>, report) {
    if (spec === undefined || (spec.hostnames ?? []).length > 0) return;
    report({
      below: ['spec', 'hostnames'],
      message:
        'hostnames is required in v1 of TLSRoute, so the route cannot be converted to v1. Set hostnames to the server names that clients request, for example shop.example.com.',
    });
  },
);
