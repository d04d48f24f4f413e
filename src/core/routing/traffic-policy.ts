import { backendKey, type ServiceObject } from '../graph/backends/backend-object.ts';
import { targetedBackend, trafficPolicyOf } from '../graph/backends/backend-policies.ts';
import { readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';
import { gatewaysOfPolicy, maxAncestors } from '../rules/engine/backend-users.ts';
import { partProblems } from '../rules/engine/validity.ts';
import { millisecondsOf } from '../text/duration.ts';
import type { RetryBudget } from './config.ts';
import { minRetryRate, retryBudget } from '../semantics/intended.ts';

type TrafficPolicySpec = NonNullable<Resource<'XBackendTrafficPolicy'>['spec']>;

/** An XBackendTrafficPolicy that applies to a backend. */
export interface TrafficPolicy {
  readonly name: string;
  readonly spec: TrafficPolicySpec;
  /** Gateways without room in its status, to which it does not apply (PolicyStatus.ancestors). */
  readonly limits: { readonly exceptFor?: readonly string[] };
}

/**
 * Returns the XBackendTrafficPolicy that applies to a backend. `undefined` if there is none, or if it is not accepted: invalid
 * policies have no effect.
 */
export function trafficPolicyInForce(read: Reader, backend: ServiceObject): TrafficPolicy | undefined {
  const { kind, namespace, name } = backend;
  const policy = read.query(trafficPolicyOf, kind, namespace, name);
  const spec = policy === undefined ? undefined : readObject(read, 'XBackendTrafficPolicy', namespace, policy)?.spec;
  if (policy === undefined || spec === undefined) return undefined;
  const key = backendKey(backend);
  const targets = (spec.targetRefs ?? []).map((target) => targetedBackend(target, namespace));
  const isRefused = read
    .query(partProblems, 'XBackendTrafficPolicy', namespace, policy)
    .some(({ part }) => part === -1 || (targets[part] !== undefined && backendKey(targets[part]) === key));
  if (isRefused) return undefined;
  const exceptFor = read.query(gatewaysOfPolicy, 'XBackendTrafficPolicy', namespace, policy).slice(maxAncestors);
  return { name: policy, spec, limits: exceptFor.length === 0 ? {} : { exceptFor } };
}

/** Returns the retry budget of a backend, with the defaults of the CRD; `undefined` without one. */
export function retryBudgetOf(read: Reader, backend: ServiceObject): RetryBudget | undefined {
  const policy = trafficPolicyInForce(read, backend);
  if (policy?.spec.retryConstraint === undefined) return undefined;
  const { retryConstraint } = policy.spec;
  const { percent, interval } = retryBudget(retryConstraint.budget);
  const minimum = minRetryRate(retryConstraint.minRetryRate);
  // A policy with an invalid duration is not accepted.
  return {
    backend: backendKey(backend),
    percent,
    interval: millisecondsOf(interval) ?? 0,
    minimum: { count: minimum.count, interval: millisecondsOf(minimum.interval) ?? 0 },
    ...policy.limits,
  };
}
