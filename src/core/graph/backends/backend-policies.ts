import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import { ageEntry, ofAgeEntry } from '../age.ts';
import {
  backendKey,
  backendKindOf,
  isService,
  type BackendPort,
  type ServiceKind,
  type ServiceObject,
} from './backend-object.ts';
import { objectsOf, readObject } from '../inputs.ts';
import { strata } from '../strata.ts';

/** The kinds of policies that target backends. */
export const backendPolicyKinds = ['BackendTLSPolicy', 'XBackendTrafficPolicy'] as const;
export type BackendPolicyKind = (typeof backendPolicyKinds)[number];

export type PolicyTargetView = NonNullable<NonNullable<Resource<'BackendTLSPolicy'>['spec']>['targetRefs']>[number];

/** Returns whether policies of this kind target backends. */
export function isBackendPolicyKind(kind: string): kind is BackendPolicyKind {
  return (backendPolicyKinds as readonly string[]).includes(kind);
}

/** Returns the targets of a policy. Targets of XBackendTrafficPolicies never have a sectionName. */
export function targetsOf(
  read: Reader,
  kind: BackendPolicyKind,
  namespace: string,
  name: string,
): readonly PolicyTargetView[] {
  return readObject(read, kind, namespace, name)?.spec?.targetRefs ?? [];
}

/**
 * Returns the object that a target of a policy in a namespace names; `undefined` for an unsupported kind. Only Services are
 * required. ServiceImports are implementation-specific (BackendTLSPolicySpec.targetRefs; BackendTrafficPolicySpec.targetRefs). XBackends have TLS settings of their
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

/** Policies by their targets. Bucket: see `policiesOf`; entries sort by precedence. */
export const policiesOfTarget = defineIndex({
  name: 'policiesOfTarget',
  stratum: strata.objectIndexes,
  over: objectsOf(...backendPolicyKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const policy = readObject(read, kind as BackendPolicyKind, namespace, name);
    if (policy === undefined) return;
    for (const target of targetsOf(read, policy.kind, namespace, name)) {
      const backend = targetedBackend(target, namespace);
      if (backend !== undefined)
        yield { bucket: policiesOf(policy.kind, backend, target.sectionName), entry: ageEntry(policy) };
    }
  },
});

/**
 * Returns the bucket of `policiesOfTarget` for a port of a backend by name, or with `''` for the backend as a whole. Each port has a bucket
 * of its own, because a backend may have thousands of ports and policies.
 */
function policiesOf(kind: BackendPolicyKind, backend: ServiceObject, section = ''): string {
  return `${kind} ${backendKey(backend)} ${section}`;
}

/** Returns the policy of a bucket of `policiesOfTarget` that takes precedence: the oldest one; `undefined` without one. */
function oldestOf(read: Reader, bucket: string): string | undefined {
  const oldest = read.first(policiesOfTarget, bucket);
  return oldest === undefined ? undefined : ofAgeEntry(oldest).name;
}

/**
 * The BackendTLSPolicy of the namespace that applies to a port of a backend, or with `''` to the backend as a whole: the oldest
 * policy with exactly this target (BackendTLSPolicySpec.targetRefs); `undefined` without one.
 */
export const policyOfTarget = defineQuery({
  name: 'policyOfTarget',
  stratum: strata.links,
  compute: (read, ...[kind, namespace, name, section]: BackendPort): string | undefined =>
    oldestOf(read, policiesOf('BackendTLSPolicy', { kind, namespace, name }, section)),
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

/** The XBackendTrafficPolicy of the namespace that takes precedence for a backend: the oldest one (GEP-713); `undefined` without one. */
export const trafficPolicyOf = defineQuery({
  name: 'trafficPolicyOf',
  stratum: strata.links,
  compute: (read, kind: ServiceKind, namespace: string, name: string): string | undefined =>
    oldestOf(read, policiesOf('XBackendTrafficPolicy', { kind, namespace, name })),
});
