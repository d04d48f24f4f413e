import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';
import { ageEntry, ofAgeEntry } from './age.ts';
import { objectsOf, readObject } from './inputs.ts';
import { resolveReferences, type ReferenceNode } from './references.ts';
import { strata } from './strata.ts';

export type PolicyTargetView = NonNullable<NonNullable<Resource<'BackendTLSPolicy'>['spec']>['targetRefs']>[number];

/** Whether a target is a Service: the only kind that policies of ours act on. */
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
 * Which BackendTLSPolicy of the namespace goes for a port of a Service by that name, or for `''`, for the Service as a
 * whole: the oldest that targets just this (BackendTLSPolicySpec.targetRefs); `undefined` where none does.
 */
export const policyOfTarget = defineQuery({
  name: 'policyOfTarget',
  stratum: strata.links,
  compute(read, namespace: string, service: string, section: string): string | undefined {
    const policies = read.list(policiesOfService, `${namespace}/${service}`).map((entry) => ofAgeEntry(entry).name);
    return policies.find((name) => {
      const targets = readObject(read, 'BackendTLSPolicy', namespace, name)?.spec?.targetRefs ?? [];
      return targets.some((target) => isService(target) && target.name === service && (target.sectionName ?? '') === section);
    });
  },
});

/** The BackendTLSPolicy in force for a port of a Service: one for the port by name goes before one for the whole. */
export function policyInForce(read: Reader, { namespace, service, portName }: { readonly namespace: string; readonly service: string; readonly portName: string }): string | undefined {
  const ofPort = portName === '' ? undefined : read.query(policyOfTarget, namespace, service, portName);
  return ofPort ?? read.query(policyOfTarget, namespace, service, '');
}

/** The authorities that a policy names: ConfigMaps of its own namespace. */
export const policyAuthorities = defineQuery({
  name: 'policyAuthorities',
  stratum: strata.links,
  compute(read, namespace: string, name: string): readonly ReferenceNode[] {
    const refs = readObject(read, 'BackendTLSPolicy', namespace, name)?.spec?.validation?.caCertificateRefs ?? [];
    return resolveReferences(read, { kind: 'BackendTLSPolicy', namespace }, 'ConfigMap', refs);
  },
});
