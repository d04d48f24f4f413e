import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Path } from '../resources/path.ts';
import { quoteRef } from '../resources/reference.ts';
import { gatewayGroup, type ViewAt } from '../schema/index.ts';
import { parentNode } from '../semantics/parent-reference.ts';
import { gatewayClassName } from './listeners/gateway.ts';
import { installationCell, readObject } from './inputs.ts';
import { isOwnerKind } from './listeners/listener-sets.ts';
import type { ServedRouteKind } from './protocols.ts';
import { strata } from './strata.ts';

/** The controller of an object: ours, another one, or unknown. */
export type Owner =
  | { readonly type: 'ours' | 'unknown' }
  /** `controllerName` and `className` are absent for parents of kinds without a GatewayClass (a mesh). */
  | { readonly type: 'other'; readonly controllerName?: string; readonly className?: string };

/** A parent or target of an object, and its controller. */
export interface ParentOwner {
  /** The location of the reference in the object. */
  readonly path: Path;
  /** `Gateway "infra/front"`, for use in sentences. */
  readonly parent: string;
  readonly owner: Owner;
}

/** The controllers of an object. */
export interface Ownership {
  /** `mixed`: ours and others. `unknown`: no known controller is ours, and not all are known. */
  readonly standing: 'ours' | 'mixed' | 'other' | 'unknown';
  /** Each parent of a route, or target of a policy; empty for objects without parents and targets. */
  readonly parents: readonly ParentOwner[];
}

/** A reference to a parent or target, as written. */
export type OwnerReference = ViewAt<'HTTPRoute', 'spec.parentRefs[]'>;

const ours: Owner = { type: 'ours' };
const unknown: Owner = { type: 'unknown' };

/** For objects whose controllers are all unknown. */
export const unknownOwnership: Ownership = { standing: 'unknown', parents: [] };

/** The controllerName of a GatewayClass; `undefined` if the class does not exist. Other changes of a class do not cause re-evaluation. */
const classController = defineQuery({
  name: 'classController',
  stratum: strata.links,
  compute: (read, className: string): string | undefined => {
    const resource = readObject(read, 'GatewayClass', '', className);
    return resource === undefined ? undefined : (resource.spec?.controllerName ?? '');
  },
});

/** The controller of a GatewayClass by its name. */
export const classOwner = defineQuery({
  name: 'classOwner',
  stratum: strata.links,
  compute(read, className: string): Owner {
    const controllerName = read.query(classController, className);
    if (controllerName === undefined || controllerName === '') return unknown;
    return ownerNamed(read, controllerName, className);
  },
});

function ownerNamed(read: Reader, controllerName: string, className?: string): Owner {
  if (controllerName === read.input(installationCell)?.controllerName) return ours;
  return className === undefined ? { type: 'other', controllerName } : { type: 'other', controllerName, className };
}

/** The controller of an object that names it itself (XMesh). */
export function ownershipByName(read: Reader, controllerName: string): Ownership {
  return { standing: standingOf([ownerNamed(read, controllerName)]), parents: [] };
}

function gatewayOwner(read: Reader, namespace: string, name: string): Owner {
  const className = read.query(gatewayClassName, namespace, name);
  return className === undefined ? unknown : read.query(classOwner, className);
}

/** Returns the controller of the target of a reference from an object in `namespace`. */
export function ownerOf(read: Reader, reference: OwnerReference): Owner {
  const { group, kind, namespace, name } = parentNode(reference, '');
  // Services and other parents belong to meshes, which are never ours.
  if (group !== gatewayGroup || !isOwnerKind(kind)) return { type: 'other' };
  return kind === 'Gateway' ? gatewayOwner(read, namespace, name) : listenerSetOwner(read, namespace, name);
}

function listenerSetOwner(read: Reader, namespace: string, name: string): Owner {
  const set = readObject(read, 'ListenerSet', namespace, name);
  if (set === undefined) return unknown;
  const parent = parentNode(set.spec?.parentRef ?? {}, namespace);
  return parent.group === gatewayGroup && parent.kind === 'Gateway'
    ? gatewayOwner(read, parent.namespace, parent.name)
    : { type: 'other' };
}

/**
 * Returns the controllers of the targets of references.
 *
 * @param at the location of the list in the object
 */
export function ownershipOf(
  read: Reader,
  references: readonly OwnerReference[],
  { namespace, at }: { readonly namespace: string; readonly at: Path },
): Ownership {
  const parents = references.map((reference, index): ParentOwner => {
    const parent = parentNode(reference, namespace);
    return { path: at.concat(index), parent: quoteRef(parent), owner: ownerOf(read, parent) };
  });
  return { standing: standingOf(parents.map(({ owner }) => owner)), parents };
}

function standingOf(owners: readonly Owner[]): Ownership['standing'] {
  const types = new Set(owners.map(({ type }) => type));
  if (types.has('ours')) return types.size === 1 ? 'ours' : 'mixed';
  return types.size === 1 && types.has('other') ? 'other' : 'unknown';
}

/** The controllers of an evaluated object. They depend only on the links between objects, not on findings. */
export const ownership = defineQuery({
  name: 'ownership',
  stratum: strata.links,
  compute(read, kind: string, namespace: string, name: string): Ownership {
    if (kind === 'GatewayClass') return { standing: standingOf([read.query(classOwner, name)]), parents: [] };
    if (isOwnerKind(kind)) return { standing: standingOf([ownerOf(read, { kind, namespace, name })]), parents: [] };
    const references = readObject(read, kind as ServedRouteKind, namespace, name)?.spec?.parentRefs ?? [];
    return references.length === 0
      ? unknownOwnership
      : ownershipOf(read, references, { namespace, at: ['spec', 'parentRefs'] });
  },
});
