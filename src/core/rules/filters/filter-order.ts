import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type Filter = ViewAt<'HTTPRoute', 'spec.rules[].filters[]'>;

/**
 * Harmful orders of two filter types: [before, after, harm]. The finding is on the later filter, so each filter has at most
 * one. ExtensionRefs are left out because their behavior is unknown. Filters for a backend next to a redirect, in any order,
 * are reported by `filter-without-effect`.
 */
const harmful: readonly (readonly [before: string, after: string, harm: string])[] = [
  ['RequestRedirect', 'ExternalAuth', 'every request is redirected before it is authorized'],
  ['RequestRedirect', 'CORS', 'preflight requests are redirected, and browsers do not follow such redirects'],
  [
    'ExternalAuth',
    'CORS',
    'preflight requests never carry credentials, so they are rejected before the CORS filter can respond',
  ],
  ['RequestMirror', 'ExternalAuth', 'requests are mirrored to another backend before they are authorized'],
];

/**
 * Does not apply to GRPCRoutes: the specification leaves their order open, and RequestMirror is the only one of these types
 * that they have.
 */
export const filterOrder = unenforcedRule(
  {
    id: 'filter-order',
    summary: 'A filter comes after one that responds to, rejects or mirrors the request.',
    effect: warned,
    source:
      'Gateway API v1.7.0, HTTPRouteRule.filters ("SHOULD implement filters in the order they are specified"); GEP-1494; GEP-1767',
  },
  function judge(filters: readonly Filter[], report) {
    for (const [index, { type = '' }] of filters.entries()) {
      const earlier = filters.slice(0, index);
      const found = harmful.find(
        ([before, after]) => after === type && earlier.some((filter) => filter.type === before),
      );
      if (found === undefined) continue;
      const [before, , harm] = found;
      const position = earlier.findIndex((filter) => filter.type === before);
      report({
        below: [index],
        value: type,
        message: `Filter ${type} comes after ${before} (filters[${position}]): ${harm}. Move ${type} before ${before}.`,
      });
    }
  },
);
