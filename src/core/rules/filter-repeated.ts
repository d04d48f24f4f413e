import { visitSemantic } from '../schema/index.ts';
import { denied } from './effects.ts';
import { incompatibleFiltersAt } from './parts.ts';
import { rule } from './rule.ts';

/** What to do with the second filter of a type that a list may hold once. Mirrors and extensions may repeat. */
const cures: ReadonlyMap<string, string> = new Map([
  ['RequestHeaderModifier', 'Write all headers into the first one'],
  ['ResponseHeaderModifier', 'Write all headers into the first one'],
  ['RequestRedirect', 'Keep one of them'],
  ['URLRewrite', 'Write hostname and path into one filter'],
  ['CORS', 'Write everything into the first one'],
  ['ExternalAuth', 'Keep one of them'],
]);

export const filterRepeated = rule({
  id: 'filter-repeated',
  kinds: ['HTTPRoute'],
  summary: 'A list holds a filter type twice that may be there only once.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'IncompatibleFilters', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteRule.filters ("Specifying the same filter multiple times is not supported")',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'filters', (path, filters) => {
      for (const [index, { type }] of filters.entries()) {
        const first = filters.findIndex((filter) => filter.type === type);
        const cure = cures.get(type ?? '');
        if (type === undefined || cure === undefined || first === index) continue;
        report({
          path: [...path, index],
          value: type,
          consequence: incompatibleFiltersAt(path),
          message: `This list has a ${type} filter already (filters[${first}]); one is allowed. ${cure} and remove this one.`,
        });
      }
    });
  },
});
