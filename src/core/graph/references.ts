import type { Reader } from '../incremental/reader.ts';
import { mayRefer } from './grants.ts';
import { authorityCell, certificateCell, gatewayGroup } from './inputs.ts';
import { isAbsent, isUnknown } from './observed.ts';

/** A resolved reference to an object of which only facts are known. `target` is `namespace/name`. */
export type ReferenceOutcome =
  | { readonly type: 'usable'; readonly target: string }
  | { readonly type: 'unsupportedKind'; readonly kind: string }
  | { readonly type: 'notPermitted'; readonly target: string }
  | { readonly type: 'absent'; readonly target: string }
  /** It is unknown here whether the target exists. */
  | { readonly type: 'unobserved'; readonly target: string }
  | { readonly type: 'unusable'; readonly target: string; readonly problem: string };

/** `index` is the position in the list of references. */
export type ReferenceNode = { readonly index: number } & ReferenceOutcome;

/** A reference as written. The default kind is the requested one, the default namespace is that of the referrer. */
export interface ReferenceView {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Certificates with keys are in Secrets. CA certificates are in ConfigMaps. */
const cells = { Secret: certificateCell, ConfigMap: authorityCell } as const;

/** Resolves a reference of a Gateway API object. */
export function resolveReference(
  read: Reader,
  from: { readonly kind: string; readonly namespace: string },
  wanted: keyof typeof cells,
  ref: ReferenceView,
): ReferenceOutcome {
  const { group = '', kind = wanted, namespace = from.namespace, name = '' } = ref;
  if (group !== '' || kind !== wanted)
    return { type: 'unsupportedKind', kind: group === '' ? kind : `${group}/${kind}` };
  const target = `${namespace}/${name}`;
  const find = (): { readonly type: string } | undefined =>
    read.input<{ readonly type: string; readonly problem?: string }>(cells[wanted], namespace, name);
  // The grant is checked before existence, so that nobody can probe for objects in another namespace.
  if (!mayRefer(read, [gatewayGroup, from.kind, from.namespace, '', wanted, namespace, name])) {
    return { type: isUnknown(read, 'ReferenceGrant', find) ? 'unobserved' : 'notPermitted', target };
  }
  const facts = find();
  if (facts === undefined) return { type: isAbsent(read, wanted, namespace, name) ? 'absent' : 'unobserved', target };
  return 'problem' in facts && typeof facts.problem === 'string'
    ? { type: 'unusable', target, problem: facts.problem }
    : { type: 'usable', target };
}

/** Resolves every reference of a list. */
export function resolveReferences(
  read: Reader,
  from: { readonly kind: string; readonly namespace: string },
  wanted: keyof typeof cells,
  refs: readonly ReferenceView[],
): readonly ReferenceNode[] {
  return refs.map((ref, index) => ({ index, ...resolveReference(read, from, wanted, ref) }));
}

/** Returns the targets of the usable references. */
export function usableTargets(nodes: readonly ReferenceOutcome[]): readonly string[] {
  return nodes.flatMap((node) => (node.type === 'usable' ? [node.target] : []));
}
