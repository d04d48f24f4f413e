import { parentNode, type ParentNode } from '../../semantics/parent-reference.ts';
import type { WholeObject } from '../engine/written-object.ts';

// The parentRefs of routes.

export type ParentRefView = Partial<ParentNode>;

export type Route = WholeObject<{
  readonly parentRefs?: readonly ParentRefView[];
  readonly useDefaultGateways?: string;
}>;

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

/** The CRDs treat empty strings as absent, except for `group`, where an empty string means the core group. */
export function withDefaults(ref: ParentRefView, ownNamespace: string): Parent {
  return {
    ...parentNode(ref, ownNamespace),
    namespace: ref.namespace || ownNamespace,
    sectionName: ref.sectionName ?? '',
    port: ref.port,
  };
}

/**
 * Returns whether two references are distinct. References to the same parent are distinct if both have a sectionName, and these
 * differ, or both have a port, and these differ. This is the interpretation of the experimental channel. Nothing that a channel
 * accepts is rejected here.
 */
export function areDistinct(a: Parent, b: Parent): boolean {
  if (!isSameParent(a, b)) return true;
  if (a.sectionName !== b.sectionName) return a.sectionName !== '' && b.sectionName !== '';
  return a.port !== undefined && b.port !== undefined && a.port !== b.port;
}

export function isSameParent(one: Parent, other: Parent): boolean {
  return (
    one.group === other.group && one.kind === other.kind && one.namespace === other.namespace && one.name === other.name
  );
}

export function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== '';
}
