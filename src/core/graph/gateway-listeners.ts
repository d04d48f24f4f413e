import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { listenerOwners, servingGateway, type ListenerOwner, type OwnerKind } from './listener-sets.ts';
import { ListenerClaims, type ConflictReason } from '../semantics/listeners.ts';
import { listenersOf, type ListenerNode } from './listeners.ts';
import { isServedProtocol, transportOfProtocol, type Transport } from './protocols.ts';
import { strata } from './strata.ts';

/** What a listener of one of the owners that a Gateway serves asks for. */
interface OwnedListener extends Pick<ListenerNode, 'name' | 'port' | 'protocol' | 'hostname'> {
  readonly owner: ListenerOwner;
}

/** Why a listener cannot be told apart from others of its Gateway. */
export interface ListenerConflict {
  readonly reason: ConflictReason;
  /**
   * `lost`: an owner that comes first asks for the same. `tied`: the same owner does, and there is no winner.
   */
  readonly standing: 'lost' | 'tied';
  /** The first few of those others. */
  readonly others: readonly OtherListener[];
}

export interface OtherListener extends ListenerOwner {
  readonly listener: string;
}

type ByListener<T> = Readonly<Record<string, T>>;

/**
 * The listeners among all that a Gateway has to serve which are not distinct, by owner and name. Those of one owner have
 * no winner: none of them may be accepted (Gateway.spec.listeners, "Handling indistinct Listeners"). Among owners the
 * Gateway comes first, then the older ListenerSet (ListenerSet.spec.listeners); who lost takes nothing from others.
 */
const conflictsOfGateway = defineQuery({
  name: 'conflictsOfGateway',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): ByListener<ByListener<ListenerConflict>> {
    const onPorts = Map.groupBy(ownedListeners(read, namespace, gateway), ({ port }) => port).values();
    return byOwner(onPorts.flatMap(conflictsOnPort));
  },
});

/** What stands against listeners of an owner for the sake of others of the same Gateway, by name. */
export const listenerConflicts = defineQuery({
  name: 'listenerConflicts',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): ByListener<ListenerConflict> {
    const gateway = servingGateway(read, { kind, namespace, name });
    return (gateway && read.query(conflictsOfGateway, gateway.namespace, gateway.name)[ownerKey({ kind, namespace, name })]) ?? {};
  },
});

/** The port, protocol and hostname of each listener of an owner, in the order of its spec. */
const requestedListeners = defineQuery({
  name: 'requestedListeners',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): readonly OwnedListener[] {
    const owner: ListenerOwner = { kind, namespace, name };
    return listenersOf(read, owner).map((listener) => ({ owner, name: listener.name, port: listener.port, protocol: listener.protocol, ...(listener.hostname === undefined ? {} : { hostname: listener.hostname }) }));
  },
});

function ownedListeners(read: Reader, namespace: string, gateway: string): readonly OwnedListener[] {
  return read.query(listenerOwners, namespace, gateway).flatMap((owner) => read.query(requestedListeners, owner.kind, owner.namespace, owner.name));
}

/** A port of a Gateway. TCP and UDP ports of one number are two ports. */
export interface GatewayPort {
  readonly port: number;
  readonly transport: Transport;
}

/**
 * The ports of everything that a Gateway is asked to serve, whether it is valid or not, ascending; `undefined` where it is
 * asked for protocols alone that are not served. Those get no port: a mistyped one is no wish to have none.
 */
export const gatewayPorts = defineQuery({
  name: 'gatewayPorts',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): readonly GatewayPort[] | undefined {
    const listeners = ownedListeners(read, namespace, gateway);
    const served = listeners.filter((listener) => isServed(listener));
    if (served.length === 0 && listeners.length > 0) return undefined;
    const ports = served.flatMap(({ port, protocol }): GatewayPort[] => {
      const transport = transportOfProtocol(protocol);
      return transport === undefined || port < 1 || port > 65_535 ? [] : [{ port, transport }];
    });
    const distinct = new Map(ports.map((one) => [`${one.port} ${one.transport}`, one]));
    return [...distinct.values()].sort((one, other) => one.port - other.port || (one.transport < other.transport ? -1 : 1));
  },
});

function isServed({ protocol }: OwnedListener): boolean {
  return isServedProtocol(protocol);
}

type Verdict<T> = readonly [listener: OwnedListener, verdict: T];

/** @param listeners of one port, in order of precedence */
function* conflictsOnPort(listeners: readonly OwnedListener[]): Iterable<Verdict<ListenerConflict>> {
  const claimed = new ListenerClaims<OwnedListener>();
  for (const ofOwner of Map.groupBy(listeners, ({ owner }) => owner).values()) {
    const remaining: OwnedListener[] = [];
    for (const listener of ofOwner) {
      const conflict = conflictOf(claimed, listener);
      if (conflict === undefined) remaining.push(listener);
      else yield [listener, { ...conflict, standing: 'lost' }];
    }
    // Protocols that are not served get no port, and take none from others.
    const claims = remaining.filter((listener) => isServed(listener));
    const own = new ListenerClaims<OwnedListener>();
    for (const listener of claims) own.add(listener);
    for (const listener of claims) {
      const conflict = conflictOf(own, listener);
      if (conflict !== undefined) yield [listener, { ...conflict, standing: 'tied' }];
    }
    for (const listener of claims) claimed.add(listener);
  }
}

/** Messages name no more others than people read. */
const namedAtMost = 3;

function conflictOf(claims: ListenerClaims<OwnedListener>, listener: OwnedListener): Omit<ListenerConflict, 'standing'> | undefined {
  const found = claims.conflictsOf(listener, namedAtMost);
  return found && { reason: found.reason, others: namesOf(found.others) };
}

function namesOf(listeners: readonly OwnedListener[]): readonly OtherListener[] {
  return listeners.slice(0, namedAtMost).map(({ owner, name }) => ({ ...owner, listener: name }));
}

/**
 * The HTTPS listeners on one port for hostnames that overlap, by owner and name, with the first few others:
 * a client may reuse a connection that it opened for one of them for the other (ListenerConditionOverlappingTLSConfig).
 * Equal hostnames conflict and are not among them.
 */
const overlapsOfGateway = defineQuery({
  name: 'overlapsOfGateway',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): ByListener<ByListener<readonly OtherListener[]>> {
    const secure = ownedListeners(read, namespace, gateway).filter(({ protocol }) => protocol === 'HTTPS');
    return byOwner(Map.groupBy(secure, ({ port }) => port).values().flatMap(overlapsOnPort));
  },
});

/** The listeners of an owner whose hostnames overlap with those of others of the same Gateway, by name. */
export const tlsOverlaps = defineQuery({
  name: 'tlsOverlaps',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): ByListener<readonly OtherListener[]> {
    const gateway = servingGateway(read, { kind, namespace, name });
    return (gateway && read.query(overlapsOfGateway, gateway.namespace, gateway.name)[ownerKey({ kind, namespace, name })]) ?? {};
  },
});

/** A hostname overlaps with the wildcards that it falls under: with few listeners, whatever their number on the port. */
function* overlapsOnPort(listeners: readonly OwnedListener[]): Iterable<Verdict<readonly OtherListener[]>> {
  const byHostname = Map.groupBy(listeners, ({ hostname = '' }) => hostname);
  const others = new Map<OwnedListener, Set<OwnedListener>>(listeners.map((listener) => [listener, new Set()]));
  for (const listener of listeners) {
    for (const wider of wildcardsAbove(listener.hostname ?? '').flatMap((wildcard) => byHostname.get(wildcard)?.slice(0, namedAtMost) ?? [])) {
      others.get(listener)?.add(wider);
      if ((others.get(wider)?.size ?? 0) < namedAtMost) others.get(wider)?.add(listener);
    }
  }
  for (const [listener, overlapping] of others) if (overlapping.size > 0) yield [listener, namesOf([...overlapping])];
}

/** Every wildcard that a hostname falls under and is not itself, and `''` for any host: `a.b.c` → `*.b.c`, `*.c`, `''`. */
function wildcardsAbove(hostname: string): readonly string[] {
  if (hostname === '') return [];
  const labels = hostname.split('.').slice(1);
  const wildcards = labels.map((_, index) => `*.${labels.slice(index).join('.')}`);
  return [...wildcards.filter((wildcard) => wildcard !== hostname), ''];
}

function byOwner<T>(verdicts: Iterable<Verdict<T>>): ByListener<ByListener<T>> {
  const owners = Map.groupBy(verdicts, ([{ owner }]) => ownerKey(owner));
  return Object.fromEntries([...owners].map(([key, list]) => [key, Object.fromEntries(list.map(([{ name }, verdict]) => [name, verdict]))]));
}

/** `Gateway/namespace/name` or `ListenerSet/namespace/name`. */
export function ownerKey({ kind, namespace, name }: ListenerOwner): string {
  return `${kind}/${namespace}/${name}`;
}
