import { ageEntry, ofAgeEntry } from '../../graph/age.ts';
import { attachedOwners, attachments } from '../../graph/attachment.ts';
import { backendKey, backendKindOf, isService, type BackendObject } from '../../graph/backends/backend-object.ts';
import {
  targetedBackend,
  targetsOf,
  type BackendPolicyKind,
  type PolicyTargetView,
} from '../../graph/backends/backend-policies.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { backendPlacesOf } from '../../graph/listeners/listener-filters.ts';
import { isOwnerKind, ownerKinds, servingGateway, type ListenerOwner } from '../../graph/listeners/listener-sets.ts';
import { requestRouteKinds, servedRouteKinds, transportOf } from '../../graph/protocols.ts';
import { strata } from '../../graph/strata.ts';
import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { ofQualifiedName, qualifiedName } from '../../resources/reference.ts';

// The Gateways and ports that use a backend. Policies and XBackends apply to these Gateways, and have a status for each of them.

/**
 * Our Gateways with attached routes or listener filters that send requests to a backend. Bucket: backend key, or for requests of
 * routes `requestsTo`; entry: `namespace/name`. Admission needs it for the owners of a policy or XBackend.
 */
export const gatewaysOfService = defineIndex({
  name: 'gatewaysOfService',
  stratum: strata.linkIndexes,
  over: objectsOf(...servedRouteKinds, ...ownerKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const gateways = ownersOf(read, kind, namespace, name).flatMap((owner) => servingGateway(read, owner) ?? []);
    if (gateways.length === 0) return;
    for (const backend of statedBackends(read, { kind, namespace, name })) {
      const buckets = isRequestRoute(kind) ? [backendKey(backend), requestsTo(backend)] : [backendKey(backend)];
      for (const gateway of gateways) {
        const entry = qualifiedName(gateway);
        for (const bucket of buckets) yield { bucket, entry };
      }
    }
  },
});

/** Returns the owners of the listeners whose requests an object handles: those that a route is attached to, or the object itself. */
function ownersOf(read: Reader, kind: string, namespace: string, name: string): readonly ListenerOwner[] {
  return isOwnerKind(kind) ? [{ kind, namespace, name }] : attachedOwners(read, kind, namespace, name);
}

/** The backends of an object with a status, or with policies with a status, that mentions the Gateways of the object. */
function statedBackends(read: Reader, subject: Parameters<typeof backendPlacesOf>[1]): readonly BackendObject[] {
  // Datagrams are forwarded without TLS, so no policy applies to them.
  const used = backendPlacesOf(read, subject, ['service'])
    .map(({ outcome }) => outcome)
    .filter((backend) => transportOf(subject.kind) === 'TCP' || !isService(backend));
  // An XBackend that cannot be used from here may have a problem that its status reports.
  const unusable = backendPlacesOf(read, subject, ['portAbsent', 'unsupportedProtocol']).flatMap(
    ({ node: { target } }) => {
      const kind = backendKindOf(target);
      return kind === 'XBackend' ? [{ ...target, kind }] : [];
    },
  );
  return [...used, ...unusable];
}

function isRequestRoute(kind: string): boolean {
  return (requestRouteKinds as readonly string[]).includes(kind);
}

function requestsTo(backend: BackendObject): string {
  return ['requests', backendKey(backend)].join(' ');
}

/** The maximum number of Gateways in the status of a policy (PolicyStatus.ancestors). */
export const maxAncestors = 16;

/**
 * Our Gateways (`namespace/name`) with routes to a backend that a policy targets, and to which the policy applies, the oldest
 * first. With more than `maxAncestors`, the policy cannot be implemented for the others (PolicyStatus.ancestors).
 */
export const gatewaysOfPolicy = defineQuery({
  name: 'gatewaysOfPolicy',
  stratum: strata.emissions,
  compute(read, kind: BackendPolicyKind, namespace: string, name: string): readonly string[] {
    const buckets = new Set(
      targetsOf(read, kind, namespace, name).flatMap((target) => bucketOf(target, { kind, namespace }) ?? []),
    );
    const [first = [], ...others] = [...buckets].map((bucket) => read.query(usersByAge, bucket));
    return others.length === 0 ? first : gatewaysByAge(read, [first, ...others].flat());
  },
});

/** The Gateways in a bucket of `gatewaysOfService`, the oldest first. One list for all policies: there may be hundreds of both. */
const usersByAge = defineQuery({
  name: 'usersByAge',
  stratum: strata.emissions,
  compute: (read, bucket: string): readonly string[] => gatewaysByAge(read, read.list(gatewaysOfService, bucket)),
});

/** Sorts Gateways (`namespace/name`) by age, the oldest first, each once. */
export function gatewaysByAge(read: Reader, gateways: readonly string[]): readonly string[] {
  const byAge = [...new Set(gateways)].flatMap((gateway) => {
    const { namespace, name } = ofQualifiedName(gateway);
    const resource = readObject(read, 'Gateway', namespace, name);
    return resource === undefined ? [] : [ageEntry(resource)];
  });
  return byAge.sort().map((entry) => qualifiedName(ofAgeEntry(entry)));
}

/** Returns our Gateways (`namespace/name`) with routes to a target of a policy to which the policy applies. */
export function gatewaysOfTarget(
  read: Reader,
  target: PolicyTargetView,
  { kind, namespace }: { readonly kind: BackendPolicyKind; readonly namespace: string },
): readonly string[] {
  const bucket = bucketOf(target, { kind, namespace });
  return bucket === undefined ? [] : read.list(gatewaysOfService, bucket);
}

/** The bucket of `gatewaysOfService` with the Gateways of a target. */
function bucketOf(
  target: PolicyTargetView,
  { kind, namespace }: { readonly kind: BackendPolicyKind; readonly namespace: string },
): string | undefined {
  const backend = targetedBackend(target, namespace);
  if (backend === undefined) return undefined;
  // Only requests of routes are retried and belong to sessions.
  return kind === 'XBackendTrafficPolicy' ? requestsTo(backend) : backendKey(backend);
}

/** The ports of backends that attached routes and listener filters send requests to. Bucket: backend key; entry: port. */
export const portsInUse = defineIndex({
  name: 'portsInUse',
  stratum: strata.findingIndexes,
  over: objectsOf(...servedRouteKinds, ...ownerKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const isServed = isOwnerKind(kind)
      ? servingGateway(read, { kind, namespace, name }) !== undefined
      : read.query(attachments, kind, namespace, name).some(({ outcome }) => outcome.type === 'attached');
    if (!isServed) return;
    for (const { outcome } of backendPlacesOf(read, { kind, namespace, name }, ['service'])) {
      yield { bucket: backendKey(outcome), entry: outcome.port };
    }
  },
});
