import { acknowledgementCell, type Acknowledgement, type DataPlaneFacts } from '../graph/inputs.ts';
import type { ListenerOwner } from '../graph/listeners/listener-sets.ts';
import { listenersOf, type ListenerNode } from '../graph/listeners/listeners.ts';
import { terminatesTls, type RouteKind } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import { listenerKey, listenerValidity, partProblems, routesOfListener } from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { fieldIgnored } from '../rules/support/feature-without-effect.ts';
import { conditionsAt, isFalse, isTrue, isUnknown, joinMessages, type Condition, type Outcome } from './conditions.ts';

// The status of listeners in Gateways and ListenerSets.

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly RouteKind[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface JudgedListener {
  readonly node: ListenerNode;
  readonly outcomes: Readonly<
    Record<'Accepted' | 'Programmed' | 'ResolvedRefs' | 'Conflicted', Outcome> &
      Partial<Record<'OverlappingTLSConfig' | typeof fieldIgnored.condition, Outcome>>
  >;
}

/** The state common to all listeners of an owner. */
export interface Observation {
  /** Why no listener of the owner is served. */
  readonly refusal: Refusal | undefined;
  /** Whether the valid listeners are served. */
  readonly service: Outcome;
}

export type Refusal = NonNullable<DataPlaneFacts['refusal']>;

/** Evaluates every listener of an owner, in the order of the specification. */
export function judgeListeners(
  read: Reader,
  owner: ListenerOwner,
  { refusal, service }: Observation,
): readonly JudgedListener[] {
  const problems = read.query(partProblems, owner.kind, owner.namespace, owner.name);
  const reported = read.input(acknowledgementCell, owner.kind, owner.namespace, owner.name)?.listenerProblems ?? {};
  const serviceOfOwner =
    refusal === undefined ? service : isFalse('Invalid', `The ${owner.kind} is not accepted; see its conditions.`);
  return listenersOf(read, owner).map((node) => {
    // For listeners that cannot serve, the data plane repeats problems that evaluation already knows.
    const problem = canServe(node) && Object.hasOwn(reported, node.name) ? reported[node.name] : undefined;
    return judge(
      node,
      problems,
      refusal === undefined && problem !== undefined ? isFalse('Invalid', problem) : serviceOfOwner,
    );
  });
}

export const notAccepted = 'Not programmed because it is not accepted; see the Accepted condition.';

function judge(node: ListenerNode, problems: readonly PartProblem[], service: Outcome): JudgedListener {
  const validity = listenerValidity(problems, node.index);
  const { accepted: refusal, conflicted: conflict, references, overlapping, ignored, failure } = validity;
  // Conflicts come first: the listener may be valid on another port.
  const against = conflict ?? refusal;
  return {
    node,
    outcomes: {
      Accepted: against === undefined ? isTrue('Accepted') : isFalse(against.reason, against.message),
      Programmed: programmed(node, {
        against: conflict?.reason ?? (refusal && 'Invalid'),
        service: failure === undefined || service.status === 'False' ? service : failedFilter,
      }),
      ResolvedRefs: references === undefined ? isTrue('ResolvedRefs') : isFalse(references.reason, references.message),
      Conflicted: conflict === undefined ? isFalse('NoConflicts', '') : isTrue(conflict.reason, conflict.message),
      ...(ignored === undefined ? {} : { [fieldIgnored.condition]: isTrue(ignored.reason, ignored.message) }),
      ...(overlapping === undefined ? {} : { OverlappingTLSConfig: isTrue(overlapping.reason, overlapping.message) }),
    },
  };
}

const failedFilter = isFalse(
  'Invalid',
  'Not programmed because a filter cannot run, so all requests get a 500; see the ResolvedRefs condition.',
);

function programmed(
  node: ListenerNode,
  { against, service }: { readonly against: string | undefined; readonly service: Outcome },
): Outcome {
  if (against !== undefined) return isFalse(against, notAccepted);
  return canServe(node) || service.status === 'False'
    ? service
    : isFalse(
        'Invalid',
        'Not programmed because the listener has no usable certificate; see the ResolvedRefs condition.',
      );
}

/** Whether clients can connect to a listener: if it terminates TLS, it needs a usable certificate. */
export function canServe(listener: ListenerNode): boolean {
  return !terminatesTls(listener) || listener.certificates.some((certificate) => certificate.type === 'usable');
}

/** The entries of status.listeners. */
export function listenerStatuses(
  read: Reader,
  owner: ListenerOwner,
  { generation, listeners }: { readonly generation: number; readonly listeners: readonly JudgedListener[] },
): readonly ListenerStatus[] {
  // The API server would reject the whole status because of a listener without a name.
  return listeners
    .filter(({ node }) => node.name !== '')
    .map(({ node, outcomes }) => ({
      name: node.name,
      supportedKinds: node.routeKinds,
      attachedRoutes: read.count(routesOfListener, listenerKey(owner, node.name)),
      conditions: conditionsAt('listener', generation, outcomes),
    }));
}

/**
 * The Accepted condition of an owner: True if at least one listener is valid, with a message about the others. `invalid`
 * returns the problem of a listener.
 */
export function summariseListeners(
  listeners: readonly JudgedListener[],
  invalid: (listener: JudgedListener) => Outcome | undefined,
): Outcome {
  const problems = listeners.flatMap((listener) => {
    const problem = invalid(listener);
    return problem === undefined ? [] : [`Listener ${listener.node.name || '(without name)'}: ${problem.message}`];
  });
  if (problems.length === 0) return isTrue('Accepted');
  const message = joinMessages(problems);
  return problems.length < listeners.length
    ? isTrue('ListenersNotValid', message)
    : isFalse('ListenersNotValid', message);
}

/** The Programmed condition of an accepted owner: False with the messages of its listeners if none of them is served. */
export function summariseService(listeners: readonly JudgedListener[], service: Outcome): Outcome {
  if (listeners.some(({ outcomes }) => outcomes.Programmed.status !== 'False')) return service;
  return isFalse(
    'Invalid',
    joinMessages(listeners.map(({ node, outcomes }) => `Listener ${node.name}: ${outcomes.Programmed.message}`)),
  );
}

/**
 * The Programmed outcome: True once every ready data plane has acknowledged the generation, and from then on for that
 * generation.
 */
export function serviceOf(
  generation: number,
  acknowledgement: Acknowledgement | undefined,
  { refusal, remark = '' }: Partial<DataPlaneFacts> = {},
): Outcome {
  if (refusal !== undefined) return isFalse(refusal.reason, refusal.message);
  if (acknowledgement !== undefined && acknowledgement.generation >= generation) return isTrue('Programmed', remark);
  return isUnknown(
    'Pending',
    joinMessages(['Waiting for the data plane to acknowledge this generation.', remark].filter(Boolean)),
  );
}
