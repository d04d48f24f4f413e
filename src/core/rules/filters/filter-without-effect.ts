import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

interface Modifier {
  readonly set?: readonly unknown[];
  readonly add?: readonly unknown[];
  readonly remove?: readonly unknown[];
}

interface Filter {
  readonly type?: string;
  readonly requestHeaderModifier?: Modifier;
  readonly responseHeaderModifier?: Modifier;
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: object };
  readonly requestMirror?: { readonly percent?: number; readonly fraction?: { readonly numerator?: number } };
}

function changesNothing({ set = [], add = [], remove = [] }: Modifier): boolean {
  return set.length + add.length + remove.length === 0;
}

interface Lack {
  readonly field: string;
  readonly problem: string;
  readonly cure: string;
}

/** What keeps a filter from having an effect. */
function lackOf(filter: Filter): Lack | undefined {
  const { urlRewrite, requestMirror } = filter;
  for (const field of ['requestHeaderModifier', 'responseHeaderModifier'] as const) {
    const modifier = filter[field];
    if (modifier !== undefined && changesNothing(modifier)) return { field, problem: `${field} sets, adds and removes no header`, cure: 'Write set, add or remove' };
  }
  if (urlRewrite !== undefined && urlRewrite.hostname === undefined && urlRewrite.path === undefined) {
    return { field: 'urlRewrite', problem: 'urlRewrite rewrites neither hostname nor path', cure: 'Write one of them' };
  }
  if (requestMirror?.percent === 0 || requestMirror?.fraction?.numerator === 0) {
    return { field: 'requestMirror', problem: 'requestMirror gets 0 percent of the requests', cure: 'Write a greater share, or none for all requests' };
  }
  return undefined;
}

/** Filters that act on requests on their way to a backend, which a redirect never gets to. */
const towardsBackend: ReadonlySet<string> = new Set(['RequestHeaderModifier', 'RequestMirror']);

export const filterWithoutEffect = unenforcedRule({
  id: 'filter-without-effect',
  summary: 'A filter changes nothing.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteFilter; HTTPRouteRule.filters',
}, function judge(filters: readonly Filter[], report) {
  const redirect = filters.findIndex(({ type }) => type === 'RequestRedirect');
  for (const [index, filter] of filters.entries()) {
    const lack = lackOf(filter);
    if (lack !== undefined) report({ below: [index, lack.field], message: `This filter changes nothing: ${lack.problem}. ${lack.cure}, or remove the filter.` });
    else if (redirect !== -1 && towardsBackend.has(filter.type ?? '')) {
      report({ below: [index], value: filter.type ?? '', message: `filters[${redirect}] answers every request by a redirect, so this ${filter.type} acts on requests that go nowhere. Remove one of the two.` });
    }
  }
});
