import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { isReadable } from '../resources/resource.ts';
import { ageEntry, ofAgeEntry } from './age.ts';
import { gatewayClassName, isOfOurClass } from './gateway.ts';
import { gatewayGroup, objectsOf, readObject } from './inputs.ts';
import { allowedNamespaces, allowsNamespace, mayAllowNamespace, type AllowedNamespaces } from './namespaces.ts';
import { isObserved } from './observed.ts';
import { strata } from './strata.ts';

/** What has listeners: a Gateway, or a ListenerSet that adds its own to those of a Gateway (GEP-1713). */
export type OwnerKind = 'Gateway' | 'ListenerSet';

export interface ListenerOwner {
  readonly kind: OwnerKind;
  readonly namespace: string;
  readonly name: string;
}

/** What became of the parentRef of a ListenerSet, and which Gateway it names. */
export interface ListenerSetParent {
  readonly type:
    | 'attached'
    /** The Gateway is ours and does not allow it. */
    | 'notAllowed'
    /** Part of the parentRef could not be read. */
    | 'unreadable'
    | 'absent'
    /** Something that somebody else serves, or may serve for all that is known here. */
    | 'foreign';
  readonly namespace: string;
  readonly name: string;
}

/** ListenerSets by the Gateway that they name. Bucket: `namespace/name`; entries sort by precedence: the oldest, then `namespace/name`. */
export const listenerSetsOfGateway = defineIndex({
  name: 'listenerSetsOfGateway',
  stratum: strata.objectIndexes,
  over: objectsOf('ListenerSet'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const set = readObject(read, 'ListenerSet', namespace, name);
    const ref = set?.spec?.parentRef;
    if (set !== undefined && ref !== undefined) yield { bucket: `${ref.namespace ?? namespace}/${ref.name ?? ''}`, entry: ageEntry(set) };
  },
});

/** Which ListenerSets a Gateway lets in: none unless it says so (Gateway.spec.allowedListeners). */
const allowedListeners = defineQuery({
  name: 'allowedListeners',
  stratum: strata.links,
  compute: (read, namespace: string, gateway: string): AllowedNamespaces => allowedNamespaces(readObject(read, 'Gateway', namespace, gateway)?.spec?.allowedListeners?.namespaces, 'None'),
});

/** Which Gateway a ListenerSet adds its listeners to, and whether it may; `undefined` where there is no such set. */
export const listenerSetParent = defineQuery({
  name: 'listenerSetParent',
  stratum: strata.links,
  compute(read, namespace: string, name: string): ListenerSetParent | undefined {
    const set = readObject(read, 'ListenerSet', namespace, name);
    if (set === undefined) return undefined;
    const { group = gatewayGroup, kind = 'Gateway', namespace: parentNamespace = namespace, name: parentName = '' } = set.spec?.parentRef ?? {};
    const gateway = { namespace: parentNamespace, name: parentName };
    if (group !== gatewayGroup || kind !== 'Gateway') return { type: 'foreign', ...gateway };
    if (read.query(gatewayClassName, parentNamespace, parentName) === undefined) return { type: unseen(read, 'Gateway'), ...gateway };
    if (!read.query(isOfOurClass, parentNamespace, parentName)) return { type: 'foreign', ...gateway };
    if (!isReadable(set, ['spec', 'parentRef'])) return { type: 'unreadable', ...gateway };
    const allowed = read.query(allowedListeners, parentNamespace, parentName);
    if (allowsNamespace(read, allowed, parentNamespace, namespace)) return { type: 'attached', ...gateway };
    return { type: mayAllowNamespace(read, allowed, namespace) ? 'foreign' : 'notAllowed', ...gateway };
  },
});

/** Whose listeners a Gateway serves: its own come first, then those of the ListenerSets that it allows, by precedence. */
export const listenerOwners = defineQuery({
  name: 'listenerOwners',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): readonly ListenerOwner[] {
    const sets = read.list(listenerSetsOfGateway, `${namespace}/${gateway}`).map((entry): ListenerOwner => ({ kind: 'ListenerSet', ...ofAgeEntry(entry) }));
    const attached = sets.filter((set) => read.query(listenerSetParent, set.namespace, set.name)?.type === 'attached');
    return [{ kind: 'Gateway', namespace, name: gateway }, ...attached];
  },
});

/** How it stands with what routes can attach to. */
export type OwnerStanding = 'ours' | 'foreign' | 'absent' | 'detached';

export function isOwnerKind(kind: string): kind is OwnerKind {
  return kind === 'Gateway' || kind === 'ListenerSet';
}

/** How it stands with an owner that was not seen. Where nobody looks for its kind, it is nothing of ours. */
function unseen(read: Reader, kind: OwnerKind): 'absent' | 'foreign' {
  return read.query(isObserved, kind) ? 'absent' : 'foreign';
}

/** Whether an owner of listeners is ours, and whether its listeners belong to a Gateway. */
export function ownerStanding(read: Reader, { kind, namespace, name }: ListenerOwner): OwnerStanding {
  if (kind === 'Gateway') {
    if (read.query(gatewayClassName, namespace, name) === undefined) return unseen(read, kind);
    return read.query(isOfOurClass, namespace, name) ? 'ours' : 'foreign';
  }
  const parent = read.query(listenerSetParent, namespace, name);
  if (parent === undefined) return unseen(read, kind);
  if (parent.type === 'attached') return 'ours';
  // A set whose Gateway is not there is nobody's yet: its own owner is told, not those of routes.
  return parent.type === 'foreign' || parent.type === 'absent' ? 'foreign' : 'detached';
}

/** The Gateway that serves the listeners of an owner; `undefined` where none of ours does. */
export function servingGateway(read: Reader, { kind, namespace, name }: ListenerOwner): { readonly namespace: string; readonly name: string } | undefined {
  if (kind === 'Gateway') return read.query(isOfOurClass, namespace, name) ? { namespace, name } : undefined;
  const parent = read.query(listenerSetParent, namespace, name);
  return parent?.type === 'attached' ? { namespace: parent.namespace, name: parent.name } : undefined;
}
