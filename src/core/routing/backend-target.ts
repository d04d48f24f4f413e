import type { BackendOutcome } from '../graph/backends/backends.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import type { BackendTarget } from './config.ts';
import { endpointsKey } from '../graph/backends/endpoints-key.ts';

/** The target of a resolved reference. */
export function backendTarget(outcome: BackendOutcome): BackendTarget {
  if (outcome.type === 'service') return { type: 'endpoints', key: endpointsKey(outcome, outcome.port) };
  if (outcome.type !== 'unobserved') return { type: 'invalid', reason: outcome.type };
  const { type, ...unobserved } = outcome;
  return { type: 'invalid', reason: type, unobserved };
}

/** The target of a backendRef. A backendRef with a problem has no endpoints, whatever it resolves to. */
export function compileBackendTarget(outcome: BackendOutcome, problem: PartProblem | undefined): BackendTarget {
  return problem === undefined ? backendTarget(outcome) : { type: 'invalid', reason: problem.reason };
}
