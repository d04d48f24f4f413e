import type { BackendOutcome } from '../graph/backends.ts';
import type { BackendTarget, ConfigKey } from './config.ts';

/** The configuration key of a Service port's endpoints. */
export function endpointsKey(namespace: string, service: string, port: number | string): ConfigKey {
  return `endpoints/${namespace}/${service}/${port}`;
}

/** Where a resolved reference leads. */
export function backendTarget(outcome: BackendOutcome): BackendTarget {
  return outcome.type === 'service'
    ? { type: 'endpoints', key: endpointsKey(outcome.namespace, outcome.name, outcome.port) }
    : { type: 'invalid', reason: outcome.type };
}
