import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type Modifier = ViewAt<'HTTPRoute', 'spec.rules[].filters[].requestHeaderModifier'>;

type Filter = ViewAt<'HTTPRoute', 'spec.rules[].filters[]'>;

function changesNothing({ set = [], add = [], remove = [] }: Modifier): boolean {
  return set.length + add.length + remove.length === 0;
}

interface Lack {
  readonly field: string;
  readonly problem: string;
  readonly cure: string;
}

/** Returns why a filter has no effect; `undefined` if it has one. */
function lackOf(filter: Filter): Lack | undefined {
  const { urlRewrite, requestMirror } = filter;
  for (const field of ['requestHeaderModifier', 'responseHeaderModifier'] as const) {
    const modifier = filter[field];
    if (modifier !== undefined && changesNothing(modifier))
      return { field, problem: `${field} does not set, add or remove any header`, cure: 'Use set, add or remove' };
  }
  if (urlRewrite !== undefined && urlRewrite.hostname === undefined && urlRewrite.path === undefined) {
    return { field: 'urlRewrite', problem: 'urlRewrite has neither hostname nor path', cure: 'Set one of them' };
  }
  if (requestMirror?.percent === 0 || requestMirror?.fraction?.numerator === 0) {
    return {
      field: 'requestMirror',
      problem: 'requestMirror mirrors 0 percent of requests',
      cure: 'Set a greater share, or remove it to mirror all requests',
    };
  }
  return undefined;
}

/** Filters that modify or copy requests to a backend. Redirected requests never reach a backend. */
const towardsBackend: ReadonlySet<string> = new Set(['RequestHeaderModifier', 'RequestMirror']);

export const filterWithoutEffect = unenforcedRule(
  {
    id: 'filter-without-effect',
    summary: 'A filter has no effect.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteFilter; HTTPRouteRule.filters',
  },
  function judge(filters: readonly Filter[], report) {
    const redirect = filters.findIndex(({ type }) => type === 'RequestRedirect');
    for (const [index, filter] of filters.entries()) {
      const lack = lackOf(filter);
      if (lack !== undefined)
        report({
          below: [index, lack.field],
          message: `The filter has no effect: ${lack.problem}. ${lack.cure}, or remove the filter.`,
        });
      else if (redirect !== -1 && towardsBackend.has(filter.type ?? '')) {
        report({
          below: [index],
          value: filter.type ?? '',
          message: `The ${filter.type} filter is ignored: filters[${redirect}] redirects every request, so none is forwarded. Remove one of the two.`,
        });
      }
    }
  },
);
