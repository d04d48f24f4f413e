import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';
import { ageEntry, ofAgeEntry } from './age.ts';
import { objectsOf, readObject } from './inputs.ts';
import { resolveReferences, type ReferenceNode } from './references.ts';
import { strata } from './strata.ts';

export type PolicyTargetView = NonNullable<NonNullable<Resource<'BackendTLSPolicy'>['spec']>['targetRefs']>[number];

/** Returns whether a target is a Service, which is the only supported kind of policy target. */
export function isService({ group, kind }: PolicyTargetView): boolean {
  return group === '' && kind === 'Service';
}

/** BackendTLSPolicies by the Services that they target. Bucket: `namespace/service`; entries sort by precedence. */
export const policiesOfService = defineIndex({
  name: 'policiesOfService',
  stratum: strata.objectIndexes,
  over: objectsOf('BackendTLSPolicy'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const policy = readObject(read, 'BackendTLSPolicy', namespace, name);
    if (policy === undefined) return;
    for (const target of policy.spec?.targetRefs ?? []) {
      if (isService(target)) yield { bucket: `${namespace}/${target.name ?? ''}`, entry: ageEntry(policy) };
    }
  },
});

/**
 * The BackendTLSPolicy of the namespace that applies to a port of a Service, or with `''` to the Service as a whole: the oldest
 * policy with exactly this target (BackendTLSPolicySpec.targetRefs); `undefined` without one.
 */
export const policyOfTarget = defineQuery({
  name: 'policyOfTarget',
  stratum: strata.links,
  compute(read, namespace: string, service: string, section: string): string | undefined {
    const policies = read.list(policiesOfService, `${namespace}/${service}`).map((entry) => ofAgeEntry(entry).name);
    return policies.find((name) => {
      const targets = readObject(read, 'BackendTLSPolicy', namespace, name)?.spec?.targetRefs ?? [];
      return targets.some(
        (target) => isService(target) && target.name === service && (target.sectionName ?? '') === section,
      );
    });
  },
});

/**
 * Returns the BackendTLSPolicy in effect for a port of a Service. A policy for the port by name takes precedence over a policy
 * for the whole Service.
 */
export function policyInForce(
  read: Reader,
  { namespace, service, portName }: { readonly namespace: string; readonly service: string; readonly portName: string },
): string | undefined {
  const ofPort = portName === '' ? undefined : read.query(policyOfTarget, namespace, service, portName);
  return ofPort ?? read.query(policyOfTarget, namespace, service, '');
}

/** The CA certificates that a policy references: ConfigMaps of its own namespace. */
export const policyAuthorities = defineQuery({
  name: 'policyAuthorities',
  stratum: strata.links,
  compute(read, namespace: string, name: string): readonly ReferenceNode[] {
    const refs = readObject(read, 'BackendTLSPolicy', namespace, name)?.spec?.validation?.caCertificateRefs ?? [];
    return resolveReferences(read, { kind: 'BackendTLSPolicy', namespace }, 'ConfigMap', refs);
  },
});
