import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { areDistinct, isGiven, isSameParent, parentsOf, type Route } from './parents.ts';

/** Bundles only check whether all fields together differ. */
export const parentSectionShared = unenforcedRule(
  {
    id: 'parent-section-shared',
    summary: 'Two parentRefs of one parent have the same sectionName or port, and differ only in the other one.',
    effect: warned,
    source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs ("ParentRefs must be distinct")',
  },
  function judge({ metadata, spec }: Route, report) {
    const parents = parentsOf(spec, metadata.namespace);
    for (const [index, parent] of parents.entries()) {
      for (const field of ['sectionName', 'port'] as const) {
        const value = parent[field];
        const before = parents
          .slice(0, index)
          .findIndex(
            (other) =>
              isGiven(value) && other[field] === value && isSameParent(other, parent) && areDistinct(other, parent),
          );
        if (before === -1) continue;
        report({
          below: ['spec', 'parentRefs', index, field],
          value: display(String(value)),
          message: `Duplicate ${field} ${quote(value)}: parentRefs[${before}] has the same one and names the same ${parent.kind}. Use distinct values of ${field}, or merge the two parentRefs.`,
        });
      }
    }
  },
);
