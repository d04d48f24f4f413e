import { requestRouteKinds } from '../../graph/protocols.ts';
import { visitSemantic } from '../../schema/index.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { incompatibleFiltersAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

/** The fix for a second filter of a type that a list may contain only once. RequestMirror and ExtensionRef may be repeated. */
const cures: ReadonlyMap<string, string> = new Map([
  ['RequestHeaderModifier', 'Move all headers to the first filter'],
  ['ResponseHeaderModifier', 'Move all headers to the first filter'],
  ['RequestRedirect', 'Keep one filter'],
  ['URLRewrite', 'Set hostname and path in one filter'],
  ['CORS', 'Move all settings to the first filter'],
  ['ExternalAuth', 'Keep one filter'],
]);

const everyType = [...cures.keys()];

export const filterRepeated = rule({
  id: 'filter-repeated',
  kinds: requestRouteKinds,
  summary: 'A list has duplicate filters of a type that is allowed once.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'IncompatibleFilters', scope: 'rule' },
  varies: ['scope'],
  source: 'Gateway API v1.7.0, HTTPRouteRule.filters ("Specifying the same filter multiple times is not supported")',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'filters', (place, filters) => {
      repetitions(filters, everyType, (violation) => {
        const { path } = place;
        violationsAt(path, report, incompatibleFiltersAt(path))(violation);
      });
    });
  },
});

type FilterTypes = readonly { readonly type?: string }[];

/** Reports filters of these types that are not the first of their type in a list. */
function repetitions(filters: FilterTypes, types: readonly string[], report: ReportViolation): void {
  for (const [index, { type }] of filters.entries()) {
    const first = filters.findIndex((filter) => filter.type === type);
    if (type === undefined || !types.includes(type) || first === index) continue;
    report({
      below: [index],
      value: type,
      message: `Duplicate ${type} filter: filters[${first}] has the same type, and only one is allowed. ${cures.get(type)}, and remove this one.`,
    });
  }
}

/** Filters of the types that exist since v1.0 must be unique in a list. */
export const filtersDistinct = demand(
  filterRepeated,
  (filters: FilterTypes, report) =>
    repetitions(filters, ['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestRedirect', 'URLRewrite'], report),
  'v1.0',
);
/** CORS filters must be unique. Bundles require this only in later releases. No bundle requires it of ExternalAuth. */
export const corsDistinct = demand(
  filterRepeated,
  (filters: FilterTypes, report) => repetitions(filters, ['CORS'], report),
  'cors',
);
