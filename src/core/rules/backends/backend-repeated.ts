import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { type ReportViolation, unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { backendOf, type BackendRef, type Route } from '../routes/rule-contents.ts';

export const backendRepeated = unenforcedRule(
  {
    id: 'backend-repeated',
    summary: 'A rule has duplicate backendRefs.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteRule.backendRefs; BackendRef.weight',
  },
  function judge({ metadata, spec }: Route, report) {
    for (const [position, { backendRefs = [] }] of (spec?.rules ?? []).entries()) {
      if (backendRefs.length > 1)
        repeatedBackends(backendRefs, ['spec', 'rules', position, 'backendRefs'], metadata.namespace, report);
    }
  },
);

function repeatedBackends(backendRefs: readonly BackendRef[], at: Path, own: string, report: ReportViolation): void {
  const first = new Map<string, number>();
  for (const [index, ref] of backendRefs.entries()) {
    // Two references to one backend are useful if they have different filters.
    if ((ref.filters ?? []).length > 0) continue;
    const key = backendOf(ref, own);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else
      report({
        below: [...at, index],
        value: display(ref.name ?? ''),
        message: `Duplicate backendRef: backendRefs[${before}] also names ${quote(ref.name)}, so their weights add up. Remove one of them, or correct the name.`,
      });
  }
}
