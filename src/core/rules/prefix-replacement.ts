import { isReadable } from '../resources/resource.ts';
import { display } from '../text/display.ts';
import { denied } from './effects.ts';
import { filterLists, routeRules, type RouteRulePart } from './parts.ts';
import { rule } from './rule.ts';

/** The CRDs overlook filters of backendRefs as soon as two of them replace a prefix. */
export const prefixReplacement = rule({
  id: 'prefix-replacement',
  kinds: ['HTTPRoute'],
  summary: 'ReplacePrefixMatch needs a rule with exactly one match, of type PathPrefix.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPPathModifier.replacePrefixMatch',
  check(route, _read, report) {
    for (const part of routeRules(route)) {
      const problem = isReadable(route, [...part.path, 'matches']) ? matchesProblem(part) : undefined;
      if (problem === undefined) continue;
      for (const { filters, path } of filterLists(part)) {
        for (const [index, filter] of filters.entries()) {
          for (const member of ['requestRedirect', 'urlRewrite'] as const) {
            if (filter[member]?.path?.type !== 'ReplacePrefixMatch') continue;
            report({
              path: [...path, index, member, 'path', 'type'],
              value: 'ReplacePrefixMatch',
              message: `ReplacePrefixMatch replaces what the rule's one PathPrefix match has matched, but ${problem}. Keep exactly one match of type PathPrefix in this rule and move others to rules of their own, or use ReplaceFullPath.`,
            });
          }
        }
      }
    }
  },
});

/** Why the prefix to replace is not clear. Without `matches` the default is one prefix match on `/`. */
function matchesProblem({ rule: { matches } }: RouteRulePart): string | undefined {
  if (matches === undefined) return undefined;
  const [first] = matches;
  if (first === undefined) return 'its list of matches is empty';
  if (matches.length > 1) return `it has ${matches.length} matches`;
  const type = first.path?.type ?? 'PathPrefix';
  return type === 'PathPrefix' ? undefined : `its match is of type ${display(type)}`;
}
