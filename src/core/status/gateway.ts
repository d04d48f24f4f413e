import { isOurGateway, listenersOf, type ListenerNode } from '../graph/gateway.ts';
import { acknowledgementCell, dataPlaneCell, readObject, type Acknowledgement, type DataPlaneFacts } from '../graph/inputs.ts';
import { terminatesTls, type RouteKind } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import { listenerKey, listenerValidity, partProblems, routesOfListener, type PartProblem } from '../rules/validity.ts';
import { conditionsAt, isFalse, isTrue, isUnknown, joinMessages, type Condition, type Outcome } from './conditions.ts';

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly RouteKind[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface GatewayStatus {
  readonly addresses: Acknowledgement['addresses'];
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

/** The status of a Gateway of ours, `undefined` for all others (GatewayStatus; GEP-1364). */
export function gatewayStatus(read: Reader, namespace: string, name: string): GatewayStatus | undefined {
  const gateway = readObject(read, 'Gateway', namespace, name);
  if (gateway === undefined || !read.query(isOurGateway, namespace, name)) return undefined;
  const { generation } = gateway.meta;
  const problems = read.query(partProblems, 'Gateway', namespace, name);
  const acknowledgement = read.input(acknowledgementCell, 'Gateway', namespace, name);
  const refusal = problems.find((problem) => problem.scope === 'object' && problem.condition === 'Accepted');
  const dataPlane = read.input(dataPlaneCell, namespace, name);
  const service = serviceOf(generation, acknowledgement, dataPlane);
  const listeners = listenersOf(read, namespace, name).map((node) => judgeListener(node, problems, { service, acknowledgement, refusal }));

  // Capacity is part of being accepted (GEP-1364).
  const accepted = gatewayAccepted(refusal ?? dataPlane?.refusal, listeners);
  const programmed = gatewayProgrammed(accepted, listeners, service);
  const unresolved = listeners.filter((listener) => listener.outcomes.ResolvedRefs.status === 'False');
  const resolved =
    unresolved.length === 0 ? isTrue('ResolvedRefs') : isFalse('ListenersNotResolved', joinMessages(unresolved.map((listener) => `Listener ${listener.node.name}: ${listener.outcomes.ResolvedRefs.message}`)));
  return {
    addresses: acknowledgement?.addresses ?? [],
    conditions: conditionsAt(generation, { Accepted: accepted, Programmed: programmed, ResolvedRefs: resolved }),
    // The entry of a listener without a name would make the API server refuse the whole status.
    listeners: listeners.filter(({ node }) => node.name !== '').map(({ node, outcomes }) => ({
      name: node.name,
      supportedKinds: node.routeKinds,
      attachedRoutes: read.count(routesOfListener, listenerKey(namespace, name, node.name)),
      conditions: conditionsAt(generation, outcomes),
    })),
  };
}

type ListenerOutcomes = Readonly<Record<'Accepted' | 'Programmed' | 'ResolvedRefs' | 'Conflicted', Outcome> & Partial<Record<'OverlappingTLSConfig', Outcome>>>;

interface JudgedListener {
  readonly node: ListenerNode;
  readonly outcomes: ListenerOutcomes;
}

const notAccepted = 'What is not accepted is not served; see Accepted.';

interface Observation {
  /** Whether what is valid is served. */
  readonly service: Outcome;
  readonly acknowledgement: Acknowledgement | undefined;
  /** Why the Gateway as a whole is not accepted. */
  readonly refusal: PartProblem | undefined;
}

function judgeListener(node: ListenerNode, problems: readonly PartProblem[], observation: Observation): JudgedListener {
  const { accepted: refusal, conflicted: conflict, references, overlapping } = listenerValidity(problems, node.index);
  const against = refusal ?? conflict;
  const accepted = against === undefined ? isTrue('Accepted') : isFalse(against.reason, against.message);
  return {
    node,
    outcomes: {
      Accepted: accepted,
      Programmed: listenerProgrammed(node, accepted, observation),
      ResolvedRefs: references === undefined ? isTrue('ResolvedRefs') : isFalse(references.reason, references.message),
      Conflicted: conflict === undefined ? isFalse('NoConflicts', '') : isTrue(conflict.reason, conflict.message),
      ...(overlapping === undefined ? {} : { OverlappingTLSConfig: isTrue(overlapping.reason, overlapping.message) }),
    },
  };
}

function listenerProgrammed(node: ListenerNode, accepted: Outcome, { service, acknowledgement, refusal }: Observation): Outcome {
  if (refusal !== undefined) return isFalse('Invalid', 'The Gateway is not accepted; see its own conditions.');
  if (accepted.status === 'False') return isFalse('Invalid', notAccepted);
  if (terminatesTls(node.protocol) && !node.certificates.some((certificate) => certificate.type === 'usable')) {
    return isFalse('Invalid', 'There is no usable certificate, so nothing can connect; see ResolvedRefs.');
  }
  const reported = acknowledgement?.listenerProblems ?? {};
  const problem = Object.hasOwn(reported, node.name) ? reported[node.name] : undefined;
  return problem === undefined ? service : isFalse('Invalid', problem);
}

function gatewayAccepted(refusal: DataPlaneFacts['refusal'], listeners: readonly JudgedListener[]): Outcome {
  if (refusal !== undefined) return isFalse(refusal.reason, refusal.message);
  if (listeners.length === 0) return isFalse('ListenersNotValid', 'The Gateway has no listeners, so nothing can connect. Write at least one under spec.listeners.');
  const invalid = listeners.filter((listener) => listener.outcomes.Accepted.status === 'False');
  if (invalid.length === 0) return isTrue('Accepted');
  const message = joinMessages(invalid.map((listener) => `Listener ${listener.node.name || '(without name)'}: ${listener.outcomes.Accepted.message}`));
  return invalid.length < listeners.length ? isTrue('ListenersNotValid', message) : isFalse('ListenersNotValid', message);
}

/** A Gateway is programmed by what of it works; where nothing does, the listeners say why. */
function gatewayProgrammed(accepted: Outcome, listeners: readonly JudgedListener[], service: Outcome): Outcome {
  if (service.status === 'False') return service;
  if (accepted.status === 'False') return isFalse('Invalid', notAccepted);
  if (listeners.some(({ outcomes }) => outcomes.Programmed.status !== 'False')) return service;
  return isFalse('Invalid', joinMessages(listeners.map(({ node, outcomes }) => `Listener ${node.name}: ${outcomes.Programmed.message}`)));
}

/** True only for what every ready data plane acknowledged, and once true for a generation, true for it. */
function serviceOf(generation: number, acknowledgement: Acknowledgement | undefined, { refusal, remark = '' }: Partial<DataPlaneFacts> = {}): Outcome {
  if (refusal !== undefined) return isFalse(refusal.reason, refusal.message);
  if (acknowledgement !== undefined && acknowledgement.generation >= generation) return isTrue('Programmed', remark);
  return isUnknown('Pending', joinMessages(['Waiting for the data plane to acknowledge this generation.', remark].filter(Boolean)));
}
