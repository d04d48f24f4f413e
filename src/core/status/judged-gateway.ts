import { acknowledgementCell, dataPlaneCell, readObject } from '../graph/inputs.ts';
import { strata } from '../graph/strata.ts';
import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import { isFalse, type Outcome } from './conditions.ts';
import { judgeListeners, serviceOf, summariseListeners, type JudgedListener, type Refusal } from './listeners.ts';

/** The state of a Gateway according to its own listeners and its data plane. */
export interface JudgedGateway {
  readonly listeners: readonly JudgedListener[];
  readonly accepted: Outcome;
  readonly service: Outcome;
}

/** Evaluates a Gateway that we manage, without its ListenerSets (GEP-1713, "Gateway Conditions"). */
export function judgeGateway(read: Reader, namespace: string, name: string): JudgedGateway {
  const generation = readObject(read, 'Gateway', namespace, name)?.meta.generation ?? 0;
  const refusal = ownerRefusal(read.query(partProblems, 'Gateway', namespace, name));
  const dataPlane = read.input(dataPlaneCell, namespace, name);
  const service = serviceOf(generation, read.input(acknowledgementCell, 'Gateway', namespace, name), dataPlane);
  const listeners = judgeListeners(read, { kind: 'Gateway', namespace, name }, { refusal, service });
  // Capacity is part of being accepted (GEP-1364).
  return { listeners, accepted: gatewayAccepted(refusal ?? dataPlane?.refusal, listeners), service };
}

/** Whether a Gateway that we manage is accepted. Its ListenerSets depend on that. */
export const isGatewayAccepted = defineQuery({
  name: 'isGatewayAccepted',
  stratum: strata.emissions,
  compute: (read, namespace: string, name: string): boolean =>
    judgeGateway(read, namespace, name).accepted.status === 'True',
});

function gatewayAccepted(refusal: Refusal | undefined, listeners: readonly JudgedListener[]): Outcome {
  if (refusal !== undefined) return isFalse(refusal.reason, refusal.message);
  if (listeners.length === 0)
    return isFalse('ListenersNotValid', 'The Gateway has no listeners. Add at least one under spec.listeners.');
  return summariseListeners(listeners, ({ outcomes }) =>
    outcomes.Accepted.status === 'False' ? outcomes.Accepted : undefined,
  );
}
