import { isOurGateway } from '../graph/listeners/gateway.ts';
import { installationCell, readObject, type AddressProblem } from '../graph/inputs.ts';
import { listenerOwners } from '../graph/listeners/listener-sets.ts';
import type { Reader } from '../incremental/reader.ts';
import { partProblems } from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { ignoredFields } from './ignored-fields.ts';
import { fieldIn } from '../schema/index.ts';
import { addressStatus, type StatusAddress } from './addresses.ts';
import {
  conditionsAt,
  isFalse,
  isTrue,
  joinMessages,
  type Condition,
  type Outcome,
  type Outcomes,
} from './conditions.ts';
import { isListenerSetAccepted } from './listener-set.ts';
import { judgeGateway } from './judged-gateway.ts';
import {
  listenerStatuses,
  notAccepted,
  summariseService,
  type JudgedListener,
  type ListenerStatus,
} from './listeners.ts';

export interface GatewayStatus {
  readonly addresses: readonly StatusAddress[];
  /** The number of ListenerSets that are attached and accepted; absent if the installed bundle does not have the field. */
  readonly attachedListenerSets?: number;
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

/** The status of a Gateway that we manage, `undefined` for all others (GatewayStatus; GEP-1364). */
export function gatewayStatus(read: Reader, namespace: string, name: string): GatewayStatus | undefined {
  const gateway = readObject(read, 'Gateway', namespace, name);
  if (gateway === undefined || !read.query(isOurGateway, namespace, name)) return undefined;
  const { generation } = gateway.meta;
  const problems = read.query(partProblems, 'Gateway', namespace, name).filter(({ scope }) => scope === 'object');
  const { shown, assigned, problem } = addressStatus(read, namespace, name);
  const { listeners, accepted, service } = judgeGateway(read, namespace, name);
  return {
    addresses: shown,
    ...(countsListenerSets(read) ? { attachedListenerSets: acceptedListenerSets(read, namespace, name) } : {}),
    conditions: conditionsAt('gateway', generation, {
      Accepted: accepted,
      Programmed: notAddressed(accepted, problem) ?? gatewayProgrammed(accepted, listeners, service),
      ResolvedRefs: gatewayResolved(problems, listeners),
      ...(assigned !== undefined && accepted.status !== 'False' && { AddressesAssigned: assigned }),
      ...insecureMode(problems),
      ...ignoredFields(problems),
    }),
    listeners: listenerStatuses(read, { kind: 'Gateway', namespace, name }, { generation, listeners }),
  };
}

/** The API server drops fields that the bundle does not have, so the status would be written again and again. */
function countsListenerSets(read: Reader): boolean {
  const bundle = read.input(installationCell)?.bundles.Gateway;
  return bundle !== undefined && fieldIn(bundle, 'Gateway', 'status.attachedListenerSets') !== undefined;
}

function acceptedListenerSets(read: Reader, namespace: string, name: string): number {
  const sets = read.query(listenerOwners, namespace, name).filter(({ kind }) => kind === 'ListenerSet');
  return sets.filter((set) => read.query(isListenerSetAccepted, set.namespace, set.name)).length;
}

/** If a Gateway is not accepted, its addresses are irrelevant. */
function notAddressed(accepted: Outcome, problem: AddressProblem | undefined): Outcome | undefined {
  return problem === undefined || accepted.status === 'False' ? undefined : isFalse(problem.reason, problem.message);
}

function gatewayProgrammed(accepted: Outcome, listeners: readonly JudgedListener[], service: Outcome): Outcome {
  if (service.status === 'False') return service;
  return accepted.status === 'False' ? isFalse('Invalid', notAccepted) : summariseService(listeners, service);
}

/** Present only while it is True (GatewayConditionInsecureFrontendValidationMode). */
function insecureMode(problems: readonly PartProblem[]): Pick<Outcomes<'gateway'>, 'InsecureFrontendValidationMode'> {
  const found = problems.find(({ condition }) => condition === 'InsecureFrontendValidationMode');
  return found === undefined ? {} : { InsecureFrontendValidationMode: isTrue(found.reason, found.message) };
}

/** Problems of the Gateway itself come before those of its listeners. */
function gatewayResolved(problems: readonly PartProblem[], listeners: readonly JudgedListener[]): Outcome {
  const own = problems.find(({ condition }) => condition === 'ResolvedRefs');
  if (own !== undefined) return isFalse(own.reason, own.message);
  const unresolved = listeners.filter(({ outcomes }) => outcomes.ResolvedRefs.status === 'False');
  if (unresolved.length === 0) return isTrue('ResolvedRefs');
  return isFalse(
    'ListenersNotResolved',
    joinMessages(unresolved.map(({ node, outcomes }) => `Listener ${node.name}: ${outcomes.ResolvedRefs.message}`)),
  );
}
