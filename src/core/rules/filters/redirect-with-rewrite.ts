import { formatPath, type Path } from '../../resources/path.ts';
import { demand } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { filterLists, routeRules, type RouteRulePart } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import type { ViewAt } from '../../schema/index.ts';

/** The CRDs compare only filters within one list. The text forbids both on one rule, regardless of the level. */
export const redirectWithRewrite = rule({
  id: 'redirect-with-rewrite',
  kinds: ['HTTPRoute'],
  summary: 'A rule has both RequestRedirect and URLRewrite, at any level.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'IncompatibleFilters', scope: 'rule' },
  source:
    'Gateway API v1.7.0, HTTPRequestRedirectFilter and HTTPURLRewriteFilter ("MUST NOT be used on the same Route rule")',
  check(route, _read, report) {
    for (const part of routeRules(route)) {
      const redirect = firstOfType(part, 'RequestRedirect');
      const rewrite = firstOfType(part, 'URLRewrite');
      if (redirect === undefined || rewrite === undefined) continue;
      report({ path: rewrite, value: 'URLRewrite', message: explain(formatPath(redirect)) });
    }
  },
});

/** Bundles check each list on its own. */
export const redirectOrRewrite = demand(
  redirectWithRewrite,
  function judge(filters: ViewAt<'HTTPRoute', 'spec.rules[].filters'>, report) {
    const redirect = filters.findIndex(({ type }) => type === 'RequestRedirect');
    const rewrite = filters.findIndex(({ type }) => type === 'URLRewrite');
    if (redirect !== -1 && rewrite !== -1)
      report({ below: [rewrite], value: 'URLRewrite', message: explain(`filters[${redirect}]`) });
  },
);

function explain(redirect: string): string {
  return `URLRewrite conflicts with the RequestRedirect at ${redirect}: a request is either redirected or forwarded. Remove one of them, or move one to a separate rule.`;
}

function firstOfType(part: RouteRulePart<'HTTPRoute'>, type: string): Path | undefined {
  for (const { filters, path } of filterLists(part)) {
    const index = filters.findIndex((filter) => filter.type === type);
    if (index !== -1) return [...path, index];
  }
  return undefined;
}
