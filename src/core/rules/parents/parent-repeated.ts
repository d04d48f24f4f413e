import { qualifiedName, quoteRef } from '../../resources/reference.ts';
import { display } from '../../text/display.ts';
import { demand, type Demand, unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import {
  areDistinct,
  isGiven,
  isSameParent,
  type Parent,
  type ParentRefView,
  parentsOf,
  type Route,
  withDefaults,
} from './parents.ts';

/** CEL rules do not know the route's own namespace, so writing it explicitly hides a duplicate from the CRDs. */
export const parentRepeated = unenforcedRule(
  {
    id: 'parent-repeated',
    summary: 'Two parentRefs name the same parent after defaulting.',
    effect: denied,
    source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs ("ParentRefs must be distinct")',
  },
  function judge({ metadata, spec }: Route, report) {
    const parents = parentsOf(spec, metadata.namespace);
    for (const [index, parent] of parents.entries()) {
      const before = parents.findIndex((other) => !areDistinct(other, parent));
      if (before === index) continue;
      report({
        below: ['spec', 'parentRefs', index],
        value: display(qualifiedName(parent)),
        message: `Duplicate parentRef: parentRefs[${before}] also names ${quoteRef(parent)} after defaulting. Remove one of them, or use distinct sectionNames.`,
      });
    }
  },
);

type DistinguishingField = 'sectionName' | 'port';

/**
 * Creates the demand of bundles on parentRefs: two parentRefs to the same parent must set the same of the distinguishing
 * fields, with different values. Bundles treat a reference without namespace and one to the own namespace as different parents.
 */
export function parentsToldApartBy(...fields: readonly DistinguishingField[]): Demand<readonly ParentRefView[]> {
  return demand(
    parentRepeated,
    function judge(refs, report) {
      const parents = refs.map((ref) => withDefaults(ref, ''));
      for (const [index, parent] of parents.entries()) {
        const found = parents
          .slice(0, index)
          .findIndex((other) => isSameParent(parent, other) && !areToldApart(parent, other, fields));
        if (found === -1) continue;
        const cure = `Remove one of them, or use distinct values of ${fields.join(' or ')}.`;
        report({
          below: [index],
          value: display(qualifiedName(parent)),
          message: `Duplicate parentRef: parentRefs[${found}] also names ${quoteRef(parent)}. ${cure}`,
        });
      }
    },
    fields.join('-or-'),
  );
}

function areToldApart(one: Parent, other: Parent, fields: readonly DistinguishingField[]): boolean {
  return (
    fields.every((field) => isGiven(one[field]) === isGiven(other[field])) &&
    fields.some((field) => one[field] !== other[field])
  );
}

/** The standard channel compares only section names. */
export const parentsToldApartBySection = parentsToldApartBy('sectionName');

export const parentsToldApartBySectionOrPort = parentsToldApartBy('sectionName', 'port');
