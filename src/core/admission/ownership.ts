import {
  ownership,
  ownershipByName,
  ownershipOf,
  unknownOwnership,
  type OwnerReference,
  type Ownership,
} from '../graph/ownership.ts';
import { backendKey } from '../graph/backends/backend-object.ts';
import { isBackendPolicyKind } from '../graph/backends/backend-policies.ts';
import { readObject } from '../graph/inputs.ts';
import { isOwnerKind } from '../graph/listeners/listener-sets.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewaysOfPolicy, gatewaysOfService } from '../rules/engine/backend-users.ts';
import type { ObjectRef } from '../resources/reference.ts';
import type { WrittenObject } from '../schema/index.ts';
import { metadataOf } from '../rules/engine/written-object.ts';

/**
 * Returns the controllers of an evaluated object. A policy for backends is ours if our Gateways forward requests to its targets, and an XBackend
 * if they forward requests to it.
 */
export function ownershipOfObject(
  read: Reader,
  { kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>,
): Ownership {
  if (kind === 'XTelemetryPolicy')
    return ownershipOfTargets(read, readObject(read, kind, namespace, name)?.spec?.targetRefs ?? [], namespace);
  if (!isBackendPolicyKind(kind) && kind !== 'XBackend') return read.query(ownership, kind, namespace, name);
  const gateways =
    kind === 'XBackend'
      ? read.list(gatewaysOfService, backendKey({ kind, namespace, name }))
      : read.query(gatewaysOfPolicy, kind, namespace, name);
  return gateways.length > 0 ? { standing: 'ours', parents: [] } : unknownOwnership;
}

interface Attaching {
  readonly controllerName?: string;
  readonly parentRef?: OwnerReference;
  readonly parentRefs?: readonly OwnerReference[];
  readonly targetRef?: OwnerReference;
  readonly targetRefs?: readonly OwnerReference[];
}

/**
 * Returns the controllers of an object that is not evaluated, by its references.
 *
 * @param stored the object after examination; its fields have the types of the kind's table
 */
export function ownershipOfWritten(read: Reader, { json }: WrittenObject, stored: unknown): Ownership {
  const { controllerName, parentRef, parentRefs, targetRef, targetRefs }: Attaching = specOf(stored);
  const { namespace } = metadataOf(json);
  if (controllerName !== undefined) return ownershipByName(read, controllerName);
  const parents = parentRefs ?? (parentRef === undefined ? [] : [parentRef]);
  if (parents.length > 0) return ownershipOf(read, parents, { namespace, at: ['spec', 'parentRefs'] });
  return ownershipOfTargets(read, targetRefs ?? (targetRef === undefined ? [] : [targetRef]), namespace);
}

/** A policy belongs to the controllers of its targets. */
function ownershipOfTargets(read: Reader, targets: readonly OwnerReference[], namespace: string): Ownership {
  const [first] = targets;
  if (first === undefined) return unknownOwnership;
  return targets.length === 1
    ? ownershipOfTarget(read, first, namespace)
    : joined(targets.map((target, index) => placedAt(index, ownershipOfTarget(read, target, namespace))));
}

function specOf(stored: unknown): Attaching {
  return typeof stored === 'object' &&
    stored !== null &&
    'spec' in stored &&
    typeof stored.spec === 'object' &&
    stored.spec !== null
    ? stored.spec
    : {};
}

/** Any controller may forward requests to a Service. */
function ownershipOfTarget(read: Reader, target: OwnerReference, own: string): Ownership {
  const { kind = '', name = '', namespace } = target;
  if (isOwnerKind(kind)) return ownershipOf(read, [target], { namespace: own, at: targetsAt });
  return ownershipOfObject(read, { kind, namespace: kind === 'GatewayClass' ? '' : (namespace ?? own), name });
}

const targetsAt = ['spec', 'targetRefs'];

/** Returns the ownership for a target at another position of the list. */
function placedAt(index: number, { standing, parents }: Ownership): Ownership {
  return { standing, parents: parents.map((parent) => ({ ...parent, path: [...targetsAt, index] })) };
}

function joined(all: readonly Ownership[]): Ownership {
  const standings = new Set(all.map(({ standing }) => standing));
  const parents = all.flatMap((one) => one.parents);
  const [standing] = standings;
  if (standings.size === 1 && standing !== undefined) return { standing, parents };
  return { standing: standings.has('ours') || standings.has('mixed') ? 'mixed' : 'unknown', parents };
}
