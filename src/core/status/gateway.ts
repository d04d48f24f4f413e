import { isOurGateway, listenersOf, type ListenerNode } from '../graph/gateway.ts';
import { acknowledgementCell, readObject, type Acknowledgement } from '../graph/inputs.ts';
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
  const acknowledgement = read.input(acknowledgementCell, namespace, name);
  const refusal = problems.find((problem) => problem.scope === 'object' && problem.condition === 'Accepted');
  const listeners = listenersOf(read, namespace, name).map((node) => judgeListener(node, problems, { generation, acknowledgement, refusal }));

  const accepted = gatewayAccepted(refusal, listeners);
  const programmed = accepted.status === 'False' ? isFalse('Invalid', notAccepted) : gatewayProgrammed(listeners, acknowledged(generation, acknowledgement));
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
  readonly generation: number;
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

function listenerProgrammed(node: ListenerNode, accepted: Outcome, { generation, acknowledgement, refusal }: Observation): Outcome {
  if (refusal !== undefined) return isFalse('Invalid', 'The Gateway is not accepted; see its own conditions.');
  if (accepted.status === 'False') return isFalse('Invalid', notAccepted);
  if (terminatesTls(node.protocol) && !node.certificates.some((certificate) => certificate.type === 'usable')) {
    return isFalse('Invalid', 'There is no usable certificate, so nothing can connect; see ResolvedRefs.');
  }
  const reported = acknowledgement?.listenerProblems ?? {};
  const problem = Object.hasOwn(reported, node.name) ? reported[node.name] : undefined;
  return problem === undefined ? acknowledged(generation, acknowledgement) : isFalse('Invalid', problem);
}

function gatewayAccepted(refusal: PartProblem | undefined, listeners: readonly JudgedListener[]): Outcome {
  if (refusal !== undefined) return isFalse(refusal.reason, refusal.message);
  if (listeners.length === 0) return isFalse('ListenersNotValid', 'The Gateway has no listeners, so nothing can connect. Write at least one under spec.listeners.');
  const invalid = listeners.filter((listener) => listener.outcomes.Accepted.status === 'False');
  if (invalid.length === 0) return isTrue('Accepted');
  const message = joinMessages(invalid.map((listener) => `Listener ${listener.node.name || '(without name)'}: ${listener.outcomes.Accepted.message}`));
  return invalid.length < listeners.length ? isTrue('ListenersNotValid', message) : isFalse('ListenersNotValid', message);
}

/** A Gateway is programmed by what of it works; where nothing does, the listeners say why. */
function gatewayProgrammed(listeners: readonly JudgedListener[], whole: Outcome): Outcome {
  if (listeners.some(({ outcomes }) => outcomes.Programmed.status !== 'False')) return whole;
  return isFalse('Invalid', joinMessages(listeners.map(({ node, outcomes }) => `Listener ${node.name}: ${outcomes.Programmed.message}`)));
}

/** True only for what every ready data plane acknowledged, and once true for a generation, true for it. */
function acknowledged(generation: number, acknowledgement: Acknowledgement | undefined): Outcome {
  return acknowledgement !== undefined && acknowledgement.generation >= generation
    ? isTrue('Programmed')
    : isUnknown('Pending', 'Waiting for the data plane to acknowledge this generation.');
}
