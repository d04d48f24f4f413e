import { ofQualifiedName, qualifiedName } from '../resources/reference.ts';
import type { Reader } from '../incremental/reader.ts';
import { tables, type KindName, type ViewAt } from '../schema/index.ts';
import { mayRefer } from './grants.ts';
import { authorityCell, certificateCell, maxAuthorities, type AuthorityFacts } from './inputs.ts';
import { isAbsent, isInstalled, mayBelongUnobserved } from './observed.ts';

/** A resolved reference to an object of which only facts are known. `target` is `namespace/name`, `name` if cluster-scoped. */
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

/** A resolved reference to CA certificates. `notServed`: the API server does not serve the kind. */
export type AuthorityOutcome = ReferenceOutcome | { readonly type: 'notServed'; readonly kind: string };

export type AuthorityNode = { readonly index: number } & AuthorityOutcome;

/** A reference as written. The default kind is the requested one, the default namespace is that of the referrer. */
export type ReferenceView = ViewAt<'Gateway', 'spec.listeners[].tls.certificateRefs[]'>;

/** The kind and namespace of the object with a reference. */
interface Referrer {
  readonly kind: KindName;
  readonly namespace: string;
}

/** Certificates with keys are in Secrets. CA certificates of a namespace are in ConfigMaps. */
const cells = { Secret: certificateCell, ConfigMap: authorityCell } as const;

/** Resolves a reference of a Gateway API object. */
export function resolveReference(
  read: Reader,
  from: Referrer,
  wanted: keyof typeof cells,
  ref: ReferenceView,
): ReferenceOutcome {
  const { group = '', kind = wanted, namespace = from.namespace, name = '' } = ref;
  if (group !== '' || kind !== wanted)
    return { type: 'unsupportedKind', kind: group === '' ? kind : `${group}/${kind}` };
  const target = qualifiedName({ namespace, name });
  const find = (): { readonly type: string } | undefined =>
    read.input<{ readonly type: string; readonly problem?: string }>(cells[wanted], namespace, name);
  // The grant is checked before existence, so that nobody can probe for objects in another namespace.
  if (!mayRefer(read, [tables[from.kind].group, from.kind, from.namespace, '', wanted, namespace, name])) {
    const isUnknown = mayBelongUnobserved(read, 'ReferenceGrant', { kind: wanted, namespace }, find);
    return { type: isUnknown ? 'unobserved' : 'notPermitted', target };
  }
  const facts = find();
  if (facts === undefined) return { type: isAbsent(read, wanted, namespace, name) ? 'absent' : 'unobserved', target };
  return judged(facts, target);
}

function judged(facts: { readonly type: string; readonly problem?: string }, target: string): ReferenceOutcome {
  return facts.problem === undefined
    ? { type: 'usable', target }
    : { type: 'unusable', target, problem: facts.problem };
}

/** Whether a reference names a ClusterTrustBundle, the only cluster-scoped source of CA certificates (GEP-5075). */
export function isTrustBundle({ group, kind }: { readonly group?: unknown; readonly kind?: unknown }): boolean {
  return group === tables.ClusterTrustBundle.group && kind === 'ClusterTrustBundle';
}

/**
 * Resolves references to CA certificates: ConfigMaps and ClusterTrustBundles. Everyone may read ClusterTrustBundles, so they need no
 * grant. A reference is unusable if there are more than `limit` certificates with it and the ones before it.
 */
export function resolveAuthorities(
  read: Reader,
  from: Referrer,
  refs: readonly ReferenceView[],
  limit = maxAuthorities,
): readonly AuthorityNode[] {
  let count = 0;
  return refs.map((ref, index) => {
    const node = isTrustBundle(ref) ? resolveTrustBundle(read, ref) : resolveReference(read, from, 'ConfigMap', ref);
    if (node.type !== 'usable') return { index, ...node };
    const own = authoritiesIn(read, [node]).length;
    if (count + own <= limit) {
      count += own;
      return { index, ...node };
    }
    const problem = `with the references before it, there are ${count + own} CA certificates, more than the limit of ${limit}. Remove certificates that clients or backends do not need`;
    return { index, type: 'unusable', target: node.target, problem };
  });
}

function resolveTrustBundle(read: Reader, { name = '' }: ReferenceView): AuthorityOutcome {
  if (!read.query(isInstalled, 'ClusterTrustBundle')) return { type: 'notServed', kind: 'ClusterTrustBundle' };
  const facts = read.input<AuthorityFacts>(authorityCell, '', name);
  if (facts !== undefined) return judged(facts, name);
  return { type: isAbsent(read, 'ClusterTrustBundle', '', name) ? 'absent' : 'unobserved', target: name };
}

/** Whether the target of an outcome is an object without a namespace. */
export function isClusterScoped(target: string): boolean {
  return !target.includes('/');
}

/** Returns the CA certificates in PEM of the usable references. For one object, it is the same list for all who refer to it. */
export function authoritiesIn(read: Reader, references: readonly AuthorityOutcome[]): readonly string[] {
  const lists = usableTargets(references).map((target) => {
    const { namespace, name } = ofQualifiedName(target);
    const facts = read.input(authorityCell, namespace, name);
    return facts?.type === 'authorities' ? facts.certificates : [];
  });
  return lists.length === 1 ? (lists[0] ?? []) : lists.flat();
}

/** Resolves every reference of a list. */
export function resolveReferences(
  read: Reader,
  from: Referrer,
  wanted: keyof typeof cells,
  refs: readonly ReferenceView[],
): readonly ReferenceNode[] {
  return refs.map((ref, index) => ({ index, ...resolveReference(read, from, wanted, ref) }));
}

/** Returns the targets of the usable references. */
export function usableTargets(nodes: readonly AuthorityOutcome[]): readonly string[] {
  return nodes.flatMap((node) => (node.type === 'usable' ? [node.target] : []));
}
