import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const tooManyMatches = specificationRule({
  id: 'too-many-matches',
  summary: 'A route has more than 128 matches in total.',
  source:
    'Gateway API v1.7.0, HTTPRouteSpec.rules and GRPCRouteSpec.rules ("the total number of matches across all rules")',
});

const limit = 128;

export const matchesWithinLimit = demand(
  tooManyMatches,
  function judge(rules: readonly ViewAt<'HTTPRoute' | 'GRPCRoute', 'spec.rules[]'>[], report) {
    const total = rules.reduce((sum, { matches = [] }) => sum + matches.length, 0);
    if (total > limit)
      report({
        below: [],
        message: `Too many matches: the route has ${total}, and at most ${limit} are allowed. Move some rules to another route.`,
      });
  },
);
