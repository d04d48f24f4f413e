import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';
import { ageEntry, ofAgeEntry } from './age.ts';
import { backendKey, backendKindOf, isService, type BackendPort, type ServiceObject } from './backend-object.ts';
import { objectsOf, readObject } from './inputs.ts';
import { strata } from './strata.ts';

export type PolicyTargetView = NonNullable<NonNullable<Resource<'BackendTLSPolicy'>['spec']>['targetRefs']>[number];

/**
 * Returns the object that a target of a policy in a namespace names; `undefined` for an unsupported kind. Only Services are
 * required. ServiceImports are implementation-specific (BackendTLSPolicySpec.targetRefs). XBackends have TLS settings of their
 * own (GEP-4894, "BackendTLSPolicy Exclusion").
 */
export function targetedBackend(
  { group, kind, name = '' }: PolicyTargetView,
  namespace: string,
): ServiceObject | undefined {
  const known = kind === undefined ? undefined : backendKindOf({ group, kind });
  const target = known && { kind: known, namespace, name };
  return target && isService(target) ? target : undefined;
}

/** BackendTLSPolicies by the backends that they target. Bucket: backend key; entries sort by precedence. */
export const policiesOfService = defineIndex({
  name: 'policiesOfService',
  stratum: strata.objectIndexes,
  over: objectsOf('BackendTLSPolicy'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const policy = readObject(read, 'BackendTLSPolicy', namespace, name);
    if (policy === undefined) return;
    for (const target of policy.spec?.targetRefs ?? []) {
      const backend = targetedBackend(target, namespace);
      if (backend !== undefined) yield { bucket: backendKey(backend), entry: ageEntry(policy) };
    }
  },
});

/**
 * The BackendTLSPolicy of the namespace that applies to a port of a backend, or with `''` to the backend as a whole: the oldest
 * policy with exactly this target (BackendTLSPolicySpec.targetRefs); `undefined` without one.
 */
export const policyOfTarget = defineQuery({
  name: 'policyOfTarget',
  stratum: strata.links,
  compute(read, ...[kind, namespace, backend, section]: BackendPort): string | undefined {
    const key = backendKey({ kind, namespace, name: backend });
    const policies = read.list(policiesOfService, key).map((entry) => ofAgeEntry(entry).name);
    return policies.find((name) => {
      const targets = readObject(read, 'BackendTLSPolicy', namespace, name)?.spec?.targetRefs ?? [];
      return targets.some(
        (target) =>
          targetedBackend(target, namespace)?.kind === kind &&
          target.name === backend &&
          (target.sectionName ?? '') === section,
      );
    });
  },
});

/**
 * Returns the BackendTLSPolicy in effect for a port of a backend. A policy for the port by name takes precedence over a policy
 * for the whole backend.
 */
export function policyInForce(
  read: Reader,
  { kind, namespace, name }: ServiceObject,
  portName: string,
): string | undefined {
  const ofPort = portName === '' ? undefined : read.query(policyOfTarget, kind, namespace, name, portName);
  return ofPort ?? read.query(policyOfTarget, kind, namespace, name, '');
}
