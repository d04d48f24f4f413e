import {
  addresses,
  demandsRoutability,
  scopeOf,
  type AddressNode,
  type WantedAddress,
} from '../graph/listeners/addresses.ts';
import {
  acknowledgementCell,
  dataPlaneCell,
  installationCell,
  type Acknowledgement,
  type AddressProblem,
} from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { fieldIn } from '../schema/index.ts';
import { parseIpAddress } from '../text/ip-address.ts';
import { quote } from '../text/display.ts';
import { isFalse, isTrue, joinMessages, type Outcome } from './conditions.ts';

type Given = Acknowledgement['addresses'];

/** An entry of status.addresses. The routability is absent if the installed bundle does not have the field. */
export interface StatusAddress {
  readonly type: string;
  readonly value: string;
  readonly routability?: string;
}

/** The addresses of a Gateway as its status reports them. */
export interface AddressStatus {
  readonly shown: readonly StatusAddress[];
  /** AddressesAssigned. `undefined` until addresses are assigned, and if the installed bundle does not have the routability. */
  readonly assigned: Outcome | undefined;
  /** Why the Gateway is not programmed. */
  readonly problem: AddressProblem | undefined;
}

/** The status of the addresses of a Gateway (GatewayStatus.addresses; GEP-5093, "Status Semantics"). */
export function addressStatus(read: Reader, namespace: string, name: string): AddressStatus {
  const acknowledgement = read.input(acknowledgementCell, 'Gateway', namespace, name);
  const given = acknowledgement?.addresses ?? [];
  const nodes = read.query(addresses, namespace, name);
  const known = read.input(dataPlaneCell, namespace, name)?.addressProblem;
  const isDemanding = nodes.some(demandsRoutability);
  const wanted = nodes.filter((node) => node.outcome === 'wanted');
  const usual = known ?? addressProblem(given, wanted);
  if (!isDemanding && !reportsRoutability(read))
    return { shown: shownAddresses(given, wanted).map(plain), assigned: undefined, problem: usual };
  const isPending = acknowledgement === undefined && known === undefined && (nodes.length === 0 || wanted.length > 0);
  const matched = matchAddresses(nodes, given);
  const assigned = isPending ? undefined : assignedOutcome(nodes, { ...matched, known });
  return { shown: matched.shown, assigned, problem: isDemanding ? whyUnassigned(assigned) : usual };
}

/** A Gateway that demands a routability is programmed with a part of its addresses (GEP-5093). */
function whyUnassigned(assigned: Outcome | undefined): AddressProblem | undefined {
  return assigned?.reason === 'NotAssigned' ? { reason: 'AddressNotAssigned', message: assigned.message } : undefined;
}

/** The API server drops fields that the bundle does not have, so the status would be written again and again. */
function reportsRoutability(read: Reader): boolean {
  const bundle = read.input(installationCell)?.bundles.Gateway;
  return bundle !== undefined && fieldIn(bundle, 'Gateway', 'status.addresses.routability') !== undefined;
}

interface Matched {
  readonly shown: readonly StatusAddress[];
  readonly missing: readonly AddressNode[];
}

/** Gives each entry at most one address, and no address to two entries. Without entries, all addresses count. */
function matchAddresses(nodes: readonly AddressNode[], given: Given): Matched {
  if (nodes.length === 0)
    return {
      shown: given.map((address) => ({ ...plain(address), routability: address.routability ?? '' })),
      missing: [],
    };
  const left = new Set(given);
  const shown = new Map<number, StatusAddress>();
  // Entries with a value accept one address only, so they choose first.
  for (const node of [...nodes.filter(hasValue), ...nodes.filter((one) => !hasValue(one))]) {
    if (node.outcome !== 'wanted') continue;
    const found = [...left].find((address) => satisfies(address, node));
    if (found === undefined) continue;
    left.delete(found);
    shown.set(node.index, { ...plain(found), routability: node.routability ?? found.routability ?? '' });
  }
  return {
    shown: nodes.flatMap(({ index }) => shown.get(index) ?? []),
    missing: nodes.filter(({ index }) => !shown.has(index)),
  };
}

function hasValue(node: AddressNode): boolean {
  return node.outcome === 'wanted' && node.value !== '';
}

function satisfies(address: Given[number], wanted: WantedAddress): boolean {
  if (address.type !== wanted.type || (address.scope ?? 'Default') !== scopeOf(wanted)) return false;
  return wanted.value === '' || isSame(wanted, address);
}

function assignedOutcome(
  nodes: readonly AddressNode[],
  { shown, missing, known }: Matched & { readonly known: AddressProblem | undefined },
): Outcome {
  if (missing.length === 0 && (nodes.length > 0 || shown.length > 0)) return isTrue('AddressesAssigned');
  const message = joinMessages([...missing.map(describeMissing), ...(known === undefined ? [] : [known.message])]);
  return isFalse(shown.length > 0 ? 'PartiallyAssigned' : 'NotAssigned', message || 'No address is assigned.');
}

function describeMissing(node: AddressNode): string {
  const place = `spec.addresses[${node.index}]`;
  if (node.outcome === 'unsupportedRoutability')
    return `${place}: unsupported routability ${quote(node.routability)} for type ${node.type}.`;
  return node.outcome === 'wanted' && node.value === ''
    ? `${place}: no address of type ${node.type}${inScope(node)} is assigned.`
    : `${place}: the address${node.outcome === 'wanted' ? ` ${node.value}${inScope(node)}` : ''} is not assigned.`;
}

function inScope({ routability }: WantedAddress): string {
  return routability === undefined ? '' : ` with routability ${routability}`;
}

function plain({ type, value }: Given[number]): StatusAddress {
  return { type, value };
}

/** If a Gateway requests specific addresses, only those of the assigned ones (GatewayStatus.addresses). */
function shownAddresses(given: Given, wanted: readonly WantedAddress[]): Given {
  const isChoosy = wanted.length > 0 && wanted.every(({ value }) => value !== '');
  return isChoosy ? given.filter((address) => wanted.some((one) => isSame(one, address))) : given;
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

function isSame(one: StatusAddress, other: StatusAddress): boolean {
  return one.type === other.type && identityOf(one) === identityOf(other);
}

/** An IPv6 address has many spellings. */
function identityOf({ type, value }: StatusAddress): bigint | string {
  return type === 'IPAddress' ? (parseIpAddress(value) ?? value) : value;
}
