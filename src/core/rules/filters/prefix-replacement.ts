import type { Path } from '../../resources/path.ts';
import { isReadable } from '../../resources/resource.ts';
import { display } from '../../text/display.ts';
import { demand } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { filterLists, routeRules, type FilterList, type RouteRulePart } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { pathMatchOf } from '../../semantics/intended.ts';

/** The CRDs do not detect this in filters of backendRefs if two of them replace a prefix. */
export const prefixReplacement = rule({
  id: 'prefix-replacement',
  kinds: ['HTTPRoute'],
  summary: 'ReplacePrefixMatch requires a rule with exactly one match, of type PathPrefix.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPPathModifier.replacePrefixMatch',
  check(route, _read, report) {
    for (const part of routeRules(route)) {
      if (!replacesPrefix(part)) continue;
      const problem = isReadable(route, [...part.path, 'matches']) ? matchesProblem(part) : undefined;
      if (problem === undefined) continue;
      for (const { filters, path } of filterLists(part)) {
        for (const below of replacingMembers.flatMap((member) => prefixReplacements(filters, member))) {
          report({ path: [...path, ...below], value: 'ReplacePrefixMatch', message: explain(problem) });
        }
      }
    }
  },
});

/**
 * Bundles check only lists with exactly one filter that replaces a prefix: the list of the rule, and the list of a backendRef
 * if no other backendRef has such a filter.
 */
export const prefixIsClear = demand(
  prefixReplacement,
  function judge(rule: RouteRulePart<'HTTPRoute'>['rule'], report) {
    const part: RouteRulePart<'HTTPRoute'> = { rule, path: [] };
    const problem = replacesPrefix(part) ? matchesProblem(part) : undefined;
    if (problem === undefined) return;
    const [own, ...ofBackends] = filterLists(part);
    for (const member of replacingMembers) {
      const judged = ofBackends.flatMap((list) => single(list, member));
      for (const below of [...(own === undefined ? [] : single(own, member)), ...(judged.length === 1 ? judged : [])]) {
        report({ below, value: 'ReplacePrefixMatch', message: explain(problem) });
      }
    }
  },
);

/** Returns the path of the only filter of a list that replaces a prefix; an empty list if there are several. */
function single({ filters, path }: FilterList, member: (typeof replacingMembers)[number]): readonly Path[] {
  const found = prefixReplacements(
    filters.map((filter) => (filter[member]?.path?.replacePrefixMatch === undefined ? {} : filter)),
    member,
  );
  return found.length === 1 ? found.map((below) => [...path, ...below]) : [];
}

const replacingMembers = ['requestRedirect', 'urlRewrite'] as const;

function prefixReplacements(
  filters: FilterList['filters'],
  member: (typeof replacingMembers)[number],
): readonly Path[] {
  return filters.flatMap((filter, index) =>
    replacesPrefixBy(filter, member) ? [[index, member, 'path', 'type']] : [],
  );
}

/** Returns whether any filter of a rule replaces a prefix. Most rules have none and need no further checks. */
function replacesPrefix({ rule: { filters = [], backendRefs = [] } }: RouteRulePart<'HTTPRoute'>): boolean {
  return filters.some(replaces) || backendRefs.some((backend) => backend.filters?.some(replaces) === true);
}

function replaces(filter: FilterList['filters'][number]): boolean {
  return replacingMembers.some((member) => replacesPrefixBy(filter, member));
}

function replacesPrefixBy(filter: FilterList['filters'][number], member: (typeof replacingMembers)[number]): boolean {
  return filter[member]?.path?.type === 'ReplacePrefixMatch';
}

function explain(problem: string): string {
  return `ReplacePrefixMatch requires a rule with exactly one match, of type PathPrefix, but ${problem}. Move the other matches to separate rules, or use ReplaceFullPath.`;
}

/** Returns why the prefix to replace is ambiguous. Without `matches`, the default is one PathPrefix match with `/`. */
function matchesProblem({ rule: { matches } }: RouteRulePart<'HTTPRoute'>): string | undefined {
  if (matches === undefined) return undefined;
  const [first] = matches;
  if (first === undefined) return 'its list of matches is empty';
  if (matches.length > 1) return `the rule has ${matches.length} matches`;
  const { type } = pathMatchOf(first.path);
  return type === 'PathPrefix' ? undefined : `the match has type ${display(type)}`;
}
