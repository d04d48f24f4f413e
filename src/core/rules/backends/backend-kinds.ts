import { multiclusterGroup, type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import type { ReportViolation } from '../engine/demand.ts';
import { backendGroupKind } from '../../semantics/intended.ts';

// References to backends of any kind.

export type BackendReference = ViewAt<'HTTPRoute', 'spec.rules[].backendRefs[]'>;

export const experimentalGroup = 'gateway.networking.x-k8s.io';

export function judgeKind(ref: BackendReference, report: ReportViolation): void {
  const { group, kind } = backendGroupKind(ref);
  const meant = meantBy(group, kind);
  if (meant === undefined) return;
  report({
    below: ['kind'],
    value: display(group === '' ? kind : `${group}/${kind}`),
    message: `Kind ${quote(kind)} not found in group ${quote(group)}. Did you mean ${meant}?`,
  });
}

/** Returns the probably intended kind of a reference to a kind that does not exist; `undefined` if the kind may exist. */
export function meantBy(group: string, kind: string): string | undefined {
  if (kind === 'ServiceImport') return group === multiclusterGroup ? undefined : `group: ${multiclusterGroup}`;
  if (kind === 'Service' && (group === 'core' || group === 'v1' || group.startsWith('gateway.networking.')))
    return 'kind: Service with group: ""';
  if (group === '' && kind !== 'Service') return nearest(kind, ['Service']) === undefined ? undefined : 'kind: Service';
  if (kind === 'Backend' && group.startsWith('gateway.networking.'))
    return `kind: XBackend with group: ${experimentalGroup}`;
  return kind === 'XBackend' && group !== experimentalGroup ? `group: ${experimentalGroup}` : undefined;
}
