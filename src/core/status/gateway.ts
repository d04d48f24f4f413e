import { addresses, type WantedAddress } from '../graph/addresses.ts';
import { isOurGateway } from '../graph/gateway.ts';
import {
  acknowledgementCell,
  dataPlaneCell,
  installationCell,
  readObject,
  type Acknowledgement,
  type AddressProblem,
} from '../graph/inputs.ts';
import { listenerOwners } from '../graph/listener-sets.ts';
import type { Reader } from '../incremental/reader.ts';
import { partProblems, type PartProblem } from '../rules/engine/validity.ts';
import { fieldIn } from '../schema/index.ts';
import { parseIpAddress } from '../text/ip-address.ts';
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
  readonly addresses: Acknowledgement['addresses'];
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
  const given = read.input(acknowledgementCell, 'Gateway', namespace, name)?.addresses ?? [];
  const wanted = read.query(addresses, namespace, name).filter((address) => address.outcome === 'wanted');
  const known = read.input(dataPlaneCell, namespace, name)?.addressProblem;
  const { listeners, accepted, service } = judgeGateway(read, namespace, name);
  return {
    addresses: shownAddresses(given, wanted),
    ...(countsListenerSets(read) ? { attachedListenerSets: acceptedListenerSets(read, namespace, name) } : {}),
    conditions: conditionsAt('gateway', generation, {
      Accepted: accepted,
      Programmed:
        notAddressed(accepted, known ?? addressProblem(given, wanted)) ??
        gatewayProgrammed(accepted, listeners, service),
      ResolvedRefs: gatewayResolved(problems, listeners),
      ...insecureMode(problems),
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

type Given = Acknowledgement['addresses'];

/** If a Gateway requests specific addresses, only those of the assigned ones (GatewayStatus.addresses). */
function shownAddresses(given: Given, wanted: readonly WantedAddress[]): Given {
  const isChoosy = wanted.length > 0 && wanted.every(({ value }) => value !== '');
  return isChoosy ? given.filter((address) => wanted.some((one) => isSame(one, address))) : given;
}

/** If a Gateway is not accepted, its addresses are irrelevant. */
function notAddressed(accepted: Outcome, problem: AddressProblem | undefined): Outcome | undefined {
  return problem === undefined || accepted.status === 'False' ? undefined : isFalse(problem.reason, problem.message);
}

/** Why a Gateway did not get its requested addresses, as far as the assigned ones tell. */
function addressProblem(given: Given, wanted: readonly WantedAddress[]): AddressProblem | undefined {
  const missing = wanted.filter((one) => one.value !== '' && !given.some((address) => isSame(one, address)));
  if (missing.length > 0) {
    const values = missing.map(({ value }) => value).join(', ');
    return {
      reason: 'AddressNotUsable',
      message: `The network did not assign ${values} to this Gateway. Request a free address that the network can assign, or omit value to get any address.`,
    };
  }
  const anyOf = wanted.find(
    (one) => one.value === '' && given.length > 0 && !given.some(({ type }) => type === one.type),
  );
  return (
    anyOf && {
      reason: 'AddressNotAssigned',
      message: `The network assigned no address of type ${anyOf.type} to this Gateway. Request another type, or omit addresses.`,
    }
  );
}

function isSame(one: Given[number], other: Given[number]): boolean {
  return one.type === other.type && identityOf(one) === identityOf(other);
}

/** An IPv6 address has many spellings. */
function identityOf({ type, value }: Given[number]): bigint | string {
  return type === 'IPAddress' ? (parseIpAddress(value) ?? value) : value;
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
