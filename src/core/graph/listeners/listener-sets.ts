import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { isReadable } from '../../resources/resource.ts';
import { gatewayGroup } from '../../schema/index.ts';
import { parentNode } from '../../semantics/parent-reference.ts';
import { ageEntry, ofAgeEntry } from '../age.ts';
import { gatewayClassName, isOfOurClass } from './gateway.ts';
import { objectsOf, readObject } from '../inputs.ts';
import { allowedNamespaces, allowsNamespace, mayAllowNamespace, type AllowedNamespaces } from '../namespaces.ts';
import { isObserved } from '../observed.ts';
import { strata } from '../strata.ts';
import { qualifiedName } from '../../resources/reference.ts';
import { listenersFrom } from '../../semantics/intended.ts';

/** The kinds with listeners: a Gateway, or a ListenerSet that adds listeners to those of a Gateway (GEP-1713). */
export const ownerKinds = ['Gateway', 'ListenerSet'] as const;
export type OwnerKind = (typeof ownerKinds)[number];

export interface ListenerOwner {
  readonly kind: OwnerKind;
  readonly namespace: string;
  readonly name: string;
}

/** The outcome of the parentRef of a ListenerSet, and the Gateway that it names. */
export interface ListenerSetParent {
  readonly type:
    | 'attached'
    /** The Gateway is ours, but does not allow the ListenerSet. */
    | 'notAllowed'
    /** Part of the parentRef is unreadable. */
    | 'unreadable'
    | 'absent'
    /** The parent is served by another controller, or may be, because it is unknown here. */
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
    if (set !== undefined && ref !== undefined)
      yield { bucket: `${ref.namespace ?? namespace}/${ref.name ?? ''}`, entry: ageEntry(set) };
  },
});

/** The namespaces whose ListenerSets a Gateway allows; by default none (Gateway.spec.allowedListeners). */
const allowedListeners = defineQuery({
  name: 'allowedListeners',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): AllowedNamespaces {
    const namespaces = readObject(read, 'Gateway', namespace, gateway)?.spec?.allowedListeners?.namespaces;
    return allowedNamespaces(namespaces, listenersFrom(namespaces));
  },
});

/** The Gateway to which a ListenerSet adds its listeners, and whether it is allowed to; `undefined` if the ListenerSet does not exist. */
export const listenerSetParent = defineQuery({
  name: 'listenerSetParent',
  stratum: strata.links,
  compute(read, namespace: string, name: string): ListenerSetParent | undefined {
    const set = readObject(read, 'ListenerSet', namespace, name);
    if (set === undefined) return undefined;
    const parent = parentNode(set.spec?.parentRef ?? {}, namespace);
    const { namespace: parentNamespace, name: parentName } = parent;
    const gateway = { namespace: parentNamespace, name: parentName };
    if (parent.group !== gatewayGroup || parent.kind !== 'Gateway') return { type: 'foreign', ...gateway };
    if (read.query(gatewayClassName, parentNamespace, parentName) === undefined)
      return { type: standingOfMissing(read, { kind: 'Gateway', ...gateway }), ...gateway };
    if (!read.query(isOfOurClass, parentNamespace, parentName)) return { type: 'foreign', ...gateway };
    if (!isReadable(set, ['spec', 'parentRef'])) return { type: 'unreadable', ...gateway };
    const allowed = read.query(allowedListeners, parentNamespace, parentName);
    if (allowsNamespace(read, allowed, parentNamespace, namespace)) return { type: 'attached', ...gateway };
    return { type: mayAllowNamespace(read, allowed, namespace) ? 'foreign' : 'notAllowed', ...gateway };
  },
});

/** The owners of the listeners that a Gateway serves: first itself, then the ListenerSets that it allows, by precedence. */
export const listenerOwners = defineQuery({
  name: 'listenerOwners',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): readonly ListenerOwner[] {
    const sets = read
      .list(listenerSetsOfGateway, qualifiedName({ namespace, name: gateway }))
      .map((entry): ListenerOwner => ({ kind: 'ListenerSet', ...ofAgeEntry(entry) }));
    const attached = sets.filter((set) => read.query(listenerSetParent, set.namespace, set.name)?.type === 'attached');
    return [{ kind: 'Gateway', namespace, name: gateway }, ...attached];
  },
});

/** The state of an owner that routes can attach to. */
export type OwnerStanding = 'ours' | 'foreign' | 'absent' | 'detached';

export function isOwnerKind(kind: string): kind is OwnerKind {
  return (ownerKinds as readonly string[]).includes(kind);
}

/** Returns the state of an owner that does not exist in the observed objects. If its kind is not observed there, the owner is not ours. */
function standingOfMissing(read: Reader, { kind, namespace }: ListenerOwner): 'absent' | 'foreign' {
  return isObserved(read, kind, namespace) ? 'absent' : 'foreign';
}

/** Returns whether an owner of listeners is ours, and whether its listeners belong to a Gateway. */
export function ownerStanding(read: Reader, { kind, namespace, name }: ListenerOwner): OwnerStanding {
  if (kind === 'Gateway') {
    if (read.query(gatewayClassName, namespace, name) === undefined)
      return standingOfMissing(read, { kind, namespace, name });
    return read.query(isOfOurClass, namespace, name) ? 'ours' : 'foreign';
  }
  const parent = read.query(listenerSetParent, namespace, name);
  if (parent === undefined) return standingOfMissing(read, { kind, namespace, name });
  if (parent.type === 'attached') return 'ours';
  // A ListenerSet without an existing Gateway belongs to no controller yet. Its own status reports this, not the status of routes.
  return parent.type === 'foreign' || parent.type === 'absent' ? 'foreign' : 'detached';
}

/** Returns the Gateway that serves the listeners of an owner; `undefined` if none of our Gateways does. */
export function servingGateway(
  read: Reader,
  { kind, namespace, name }: ListenerOwner,
): { readonly namespace: string; readonly name: string } | undefined {
  if (kind === 'Gateway') return read.query(isOfOurClass, namespace, name) ? { namespace, name } : undefined;
  const parent = read.query(listenerSetParent, namespace, name);
  return parent?.type === 'attached' ? { namespace: parent.namespace, name: parent.name } : undefined;
}
