import { gatewayGroup } from '../../graph/inputs.ts';
import type { WholeObject } from '../engine/written-object.ts';

// What routes say of their parents.

export interface ParentRefView {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly sectionName?: string;
  readonly port?: number;
}

export type Route = WholeObject<{ readonly parentRefs?: readonly ParentRefView[]; readonly useDefaultGateways?: string }>;

export function parentsOf(spec: Route['spec'], ownNamespace: string): readonly Parent[] {
  return (spec?.parentRefs ?? []).map((ref) => withDefaults(ref, ownNamespace));
}

export interface Parent {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName: string;
  readonly port: number | undefined;
}

/** The CRDs take empty texts for absent ones, except in `group`, where it means the core group. */
export function withDefaults(ref: ParentRefView, ownNamespace: string): Parent {
  return {
    group: ref.group ?? gatewayGroup,
    kind: ref.kind ?? 'Gateway',
    namespace: ref.namespace || ownNamespace,
    name: ref.name ?? '',
    sectionName: ref.sectionName ?? '',
    port: ref.port,
  };
}

/**
 * References to one parent are distinct when both name a section, and not the same, or when both name a port, and
 * not the same (the experimental channel's reading; nothing that some channel admits is refused here).
 */
export function areDistinct(a: Parent, b: Parent): boolean {
  if (!isSameParent(a, b)) return true;
  if (a.sectionName !== b.sectionName) return a.sectionName !== '' && b.sectionName !== '';
  return a.port !== undefined && b.port !== undefined && a.port !== b.port;
}

export function isSameParent(one: Parent, other: Parent): boolean {
  return one.group === other.group && one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;
}

export function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== '';
}
