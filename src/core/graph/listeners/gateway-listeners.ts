import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { keyOfRef } from '../../resources/reference.ts';
import { hasHostnamePolicies } from '../matches/hostname-policies.ts';
import { hostnameKey } from '../../text/hostname.ts';
import { firstOfEachName } from './addressed-listeners.ts';
import { refusedListeners } from './listener-hostnames.ts';
import { readObject } from '../inputs.ts';
import { listenerOwners, servingGateway, type ListenerOwner, type OwnerKind } from './listener-sets.ts';
import { ListenerClaims, type ConflictReason } from '../../semantics/listeners.ts';
import type { ListenerNode } from './listeners.ts';
import { isServedProtocol, transportOfProtocol, type Transport } from '../protocols.ts';
import { strata } from '../strata.ts';

/** The claim of a listener of one of the owners that a Gateway serves. */
interface OwnedListener extends Pick<ListenerNode, 'name' | 'port' | 'protocol' | 'hostname'> {
  readonly owner: ListenerOwner;
}

/** The reason why a listener conflicts with others of its Gateway. */
export interface ListenerConflict {
  readonly reason: ConflictReason;
  /** `lost`: an owner with higher precedence has a conflicting listener. `tied`: the same owner has, and neither wins. */
  readonly standing: 'lost' | 'tied';
  /** The first few conflicting listeners. */
  readonly others: readonly OtherListener[];
}

export interface OtherListener extends ListenerOwner {
  readonly listener: string;
}

type ByListener<T> = Readonly<Record<string, T>>;

/**
 * The listeners of a Gateway and its ListenerSets that are not distinct, by owner and name. Among listeners of one owner there
 * is no winner: none of them may be accepted (Gateway.spec.listeners, "Handling indistinct Listeners"). Among owners, the
 * Gateway has precedence, then the older ListenerSet (ListenerSet.spec.listeners). A listener that lost does not conflict with
 * further ones.
 */
const conflictsOfGateway = defineQuery({
  name: 'conflictsOfGateway',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): ByListener<ByListener<ListenerConflict>> {
    const onPorts = Map.groupBy(permittedListeners(read, namespace, gateway), ({ port }) => port).values();
    return byOwner(onPorts.flatMap(conflictsOnPort));
  },
});

/** The conflicts of an owner's listeners with others of the same Gateway, by name. */
export const listenerConflicts = defineQuery({
  name: 'listenerConflicts',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): ByListener<ListenerConflict> {
    const gateway = servingGateway(read, { kind, namespace, name });
    return (
      (gateway &&
        read.query(conflictsOfGateway, gateway.namespace, gateway.name)[keyOfRef({ kind, namespace, name })]) ??
      {}
    );
  },
});

/**
 * The port, protocol and hostname of each listener of an owner, in the order of its spec. Reads only the owner: a Gateway can have
 * thousands of listeners, and each change looks at all that these depend on.
 */
const requestedListeners = defineQuery({
  name: 'requestedListeners',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): readonly OwnedListener[] {
    const owner: ListenerOwner = { kind, namespace, name };
    const listeners = readObject(read, kind, namespace, name)?.spec?.listeners ?? [];
    return firstOfEachName(listeners).map((listener) => {
      const claim = { owner, name: listener.name ?? '', port: listener.port ?? 0, protocol: listener.protocol ?? '' };
      const hostname = hostnameKey(listener.hostname ?? '');
      return hostname === '' ? claim : { ...claim, hostname };
    });
  },
});

function ownedListeners(read: Reader, namespace: string, gateway: string): readonly OwnedListener[] {
  return read
    .query(listenerOwners, namespace, gateway)
    .flatMap((owner) => read.query(requestedListeners, owner.kind, owner.namespace, owner.name));
}

/** Leaves out the listeners whose hostnames HostnamePolicies do not permit. They reserve nothing, so they cause no conflicts. */
function permittedListeners(read: Reader, namespace: string, gateway: string): readonly OwnedListener[] {
  const listeners = ownedListeners(read, namespace, gateway);
  if (!read.query(hasHostnamePolicies)) return listeners;
  return listeners.filter(
    ({ owner, name }) =>
      owner.kind === 'Gateway' || !Object.hasOwn(read.query(refusedListeners, owner.namespace, owner.name), name),
  );
}

/** A port of a Gateway. A TCP port and a UDP port with the same number are different ports. */
export interface GatewayPort {
  readonly port: number;
  readonly transport: Transport;
}

/**
 * The ports of all listeners of a Gateway, valid or not, ascending; `undefined` if all of its listeners have unsupported
 * protocols. Those get no port, and a misspelled protocol does not mean that the Gateway wants no ports.
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
    return [...distinct.values()].sort(
      (one, other) => one.port - other.port || (one.transport < other.transport ? -1 : 1),
    );
  },
});

function isServed({ protocol }: OwnedListener): boolean {
  return isServedProtocol(protocol);
}

type Verdict<T> = readonly [listener: OwnedListener, verdict: T];

/**
 * Yields the conflicts on one port.
 *
 * @param listeners of one port, in order of precedence
 */
function* conflictsOnPort(listeners: readonly OwnedListener[]): Iterable<Verdict<ListenerConflict>> {
  if (listeners.length < 2) return;
  const claimed = new ListenerClaims<OwnedListener>();
  for (const ofOwner of Map.groupBy(listeners, ({ owner }) => owner).values()) {
    const remaining: OwnedListener[] = [];
    for (const listener of ofOwner) {
      const conflict = conflictOf(claimed, listener);
      if (conflict === undefined) remaining.push(listener);
      else yield [listener, { ...conflict, standing: 'lost' }];
    }
    // Listeners with unsupported protocols get no port, and cause no conflicts for others.
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

/** The maximum number of other listeners in a message. */
const namedAtMost = 3;

function conflictOf(
  claims: ListenerClaims<OwnedListener>,
  listener: OwnedListener,
): Omit<ListenerConflict, 'standing'> | undefined {
  const found = claims.conflictsOf(listener, namedAtMost);
  return found && { reason: found.reason, others: namesOf(found.others) };
}

function namesOf(listeners: readonly OwnedListener[]): readonly OtherListener[] {
  return listeners.slice(0, namedAtMost).map(({ owner, name }) => ({ ...owner, listener: name }));
}

/**
 * The HTTPS listeners on one port with overlapping hostnames, by owner and name, with the first few others. A client may reuse
 * a connection to one of them for the other (ListenerConditionOverlappingTLSConfig). Equal hostnames are conflicts, not
 * overlaps.
 */
const overlapsOfGateway = defineQuery({
  name: 'overlapsOfGateway',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): ByListener<ByListener<readonly OtherListener[]>> {
    const secure = permittedListeners(read, namespace, gateway).filter(({ protocol }) => protocol === 'HTTPS');
    return byOwner(
      Map.groupBy(secure, ({ port }) => port)
        .values()
        .flatMap(overlapsOnPort),
    );
  },
});

/** The listeners of an owner whose hostnames overlap with others of the same Gateway, by name. */
export const tlsOverlaps = defineQuery({
  name: 'tlsOverlaps',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): ByListener<readonly OtherListener[]> {
    const gateway = servingGateway(read, { kind, namespace, name });
    return (
      (gateway &&
        read.query(overlapsOfGateway, gateway.namespace, gateway.name)[keyOfRef({ kind, namespace, name })]) ??
      {}
    );
  },
});

/** The listeners with equal hostnames on one port. */
interface Host {
  /** The hostname by labels from the last one. Hostnames that a wildcard covers begin with its domain: `c.b.` for `*.b.c`. */
  readonly domain: string;
  readonly isWildcard: boolean;
  /** The narrowest other wildcard that covers the hostname. */
  wider: Host | undefined;
  readonly listeners: readonly OwnedListener[];
  /** The first few listeners with other hostnames that overlap. */
  readonly others: OwnedListener[];
}

/** Compares each hostname only with the wildcards that cover it, so the cost does not depend on the number of listeners on the port. */
function* overlapsOnPort(listeners: readonly OwnedListener[]): Iterable<Verdict<readonly OtherListener[]>> {
  if (listeners.length < 2) return;
  const byHostname = Map.groupBy(listeners, ({ hostname = '' }) => hostname);
  const hosts = [...byHostname].map(([hostname, equal]) => hostOf(hostname, equal));
  findWildcards(hosts);
  for (const host of hosts) {
    for (let { wider } = host; wider !== undefined; wider = wider.wider) {
      note(host, wider);
      note(wider, host);
    }
  }
  for (const { listeners: equal, others } of hosts) {
    if (others.length === 0) continue;
    const names = namesOf(others);
    for (const listener of equal) yield [listener, names];
  }
}

function hostOf(hostname: string, listeners: readonly OwnedListener[]): Host {
  const isWildcard = hostname === '' || hostname.startsWith('*.');
  const domain = hostname.split('.').toReversed().join('.');
  return {
    domain: isWildcard ? domain.slice(0, -1) : domain,
    isWildcard,
    wider: undefined,
    listeners,
    others: [],
  };
}

/** Finds the wildcards that cover each host. A tree of labels would take 170 MiB for thousands of hostnames with 125 labels. */
function findWildcards(hosts: readonly Host[]): void {
  let above: Host | undefined;
  // What a wildcard covers follows it.
  for (const host of hosts.toSorted((one, other) => (one.domain < other.domain ? -1 : 1))) {
    while (above !== undefined && !host.domain.startsWith(above.domain)) above = above.wider;
    host.wider = above;
    if (host.isWildcard) above = host;
  }
}

function note({ others }: Host, { listeners }: Host): void {
  if (others.length < namedAtMost) others.push(...listeners.slice(0, namedAtMost - others.length));
}

function byOwner<T>(verdicts: Iterable<Verdict<T>>): ByListener<ByListener<T>> {
  const owners = Map.groupBy(verdicts, ([{ owner }]) => keyOfRef(owner));
  return Object.fromEntries(
    [...owners].map(([key, list]) => [key, Object.fromEntries(list.map(([{ name }, verdict]) => [name, verdict]))]),
  );
}
