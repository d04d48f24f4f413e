import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

interface Filter {
  readonly type?: string;
}

/**
 * What goes wrong where a filter of one type stands before one of another: [before, after, harm]. The later one is at
 * fault where both are, so that each filter is told of once. ExtensionRefs may be anything, and filters for a backend
 * beside a redirect are told of by `filter-without-effect`, in whatever order.
 */
const harmful: readonly (readonly [before: string, after: string, harm: string])[] = [
  ['RequestRedirect', 'ExternalAuth', 'every request is redirected before anybody authorizes it'],
  ['RequestRedirect', 'CORS', 'preflight requests are redirected, too, which no browser follows'],
  ['ExternalAuth', 'CORS', 'preflight requests, which never carry credentials, are refused before CORS answers them'],
  ['RequestMirror', 'ExternalAuth', 'requests are copied to another backend before anybody authorizes them'],
];

/** Of GRPCRoutes the specification leaves the order open, and of these types they have RequestMirror alone. */
export const filterOrder = unenforcedRule({
  id: 'filter-order',
  summary: 'A filter comes too late, after one that answers, refuses or copies the request.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteRule.filters ("SHOULD implement filters in the order they are specified"); GEP-1494; GEP-1767',
}, function judge(filters: readonly Filter[], report) {
  for (const [index, { type = '' }] of filters.entries()) {
    const earlier = filters.slice(0, index);
    const found = harmful.find(([before, after]) => after === type && earlier.some((filter) => filter.type === before));
    if (found === undefined) continue;
    const [before, , harm] = found;
    const position = earlier.findIndex((filter) => filter.type === before);
    report({ below: [index], value: type, message: `In this order, ${harm}: ${before} (filters[${position}]) comes before ${type}. Write ${type} before it.` });
  }
});
