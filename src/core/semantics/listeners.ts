/** The parts of a listener that tell it apart from others of its Gateway. */
export interface ListenerClaim {
  readonly port: number;
  readonly protocol: string;
  /** Absent or `''`: any host. */
  readonly hostname?: string;
}

/** Reasons of the condition Conflicted. */
export type ConflictReason = 'ProtocolConflict' | 'HostnameConflict';

/** How a protocol tells its listeners apart on one port. `wire`: the first bytes that a client sends. */
interface Distinction {
  readonly transport: 'tcp' | 'udp';
  /** Protocols of one wire look alike until the hostname is known; `any`: the client may send anything first. */
  readonly wire: 'http' | 'tls' | 'any';
}

const distinctions: ReadonlyMap<string, Distinction> = new Map([
  ['HTTP', { transport: 'tcp', wire: 'http' }],
  ['HTTPS', { transport: 'tcp', wire: 'tls' }],
  ['TLS', { transport: 'tcp', wire: 'tls' }],
  ['TCP', { transport: 'tcp', wire: 'any' }],
  ['UDP', { transport: 'udp', wire: 'any' }],
]);

/**
 * Why two listeners are not distinct, `undefined` if they are (Gateway.spec.listeners, "Distinct Listeners", v1.7). HTTPS and TLS
 * listeners share a port if their hostnames differ, because both begin with a server name. A TCP listener conflicts with HTTP,
 * HTTPS and TLS listeners on its port, and a UDP listener with none of them. Protocols of other implementations conflict with
 * themselves alone.
 */
export function conflictBetween(one: ListenerClaim, other: ListenerClaim): ConflictReason | undefined {
  if (one.port !== other.port) return undefined;
  if (one.protocol === other.protocol) return isToldApart(one, other) ? undefined : 'HostnameConflict';
  const [left, right] = [distinctions.get(one.protocol), distinctions.get(other.protocol)];
  if (left === undefined || right === undefined || left.transport !== right.transport) return undefined;
  if (left.wire === 'tls' && right.wire === 'tls') return isToldApart(one, other) ? undefined : 'ProtocolConflict';
  return 'ProtocolConflict';
}

/** Whether the hostnames of two listeners of one wire differ; TCP and UDP know none. */
function isToldApart(one: ListenerClaim, other: ListenerClaim): boolean {
  return distinctions.get(one.protocol)?.wire !== 'any' && hostnameKey(one) !== hostnameKey(other);
}

/** The spelling by which hostnames of listeners are compared; `''` stands for any host. */
function hostnameKey({ hostname = '' }: ListenerClaim): string {
  return hostname.toLowerCase();
}

/** Listeners of any number, searchable for those that conflict with another one without a look at all of them. */
export class ListenerClaims<L extends ListenerClaim> {
  /** By port, then by protocol, then by hostname. */
  readonly #ports = new Map<number, Map<string, Map<string, L[]>>>();

  add(listener: L): void {
    const protocols = entryOf(this.#ports, listener.port, () => new Map<string, Map<string, L[]>>());
    const hostnames = entryOf(protocols, listener.protocol, () => new Map<string, L[]>());
    entryOf(hostnames, hostnameKey(listener), () => []).push(listener);
  }

  /**
   * The listeners that conflict with one, itself apart, up to `most` of them in the order in which they were added within their
   * protocol and hostname. Different protocols come before equal ones.
   */
  conflictsOf(listener: L, most: number): { readonly reason: ConflictReason; readonly others: readonly L[] } | undefined {
    const found: Record<ConflictReason, L[]> = { ProtocolConflict: [], HostnameConflict: [] };
    for (const [protocol, hostnames] of this.#ports.get(listener.port) ?? []) {
      for (const candidates of bucketsOf(hostnames, listener, protocol)) {
        for (const candidate of candidates.slice(0, most + 1)) {
          const reason = candidate === listener ? undefined : conflictBetween(listener, candidate);
          if (reason !== undefined && found[reason].length < most) found[reason].push(candidate);
        }
      }
    }
    const reason = found.ProtocolConflict.length > 0 ? 'ProtocolConflict' : 'HostnameConflict';
    return found[reason].length === 0 ? undefined : { reason, others: found[reason] };
  }
}

/** Where rivals of a protocol can be: those with the same hostname, and if hostnames do not tell them apart, all. */
function bucketsOf<L extends ListenerClaim>(hostnames: ReadonlyMap<string, L[]>, listener: ListenerClaim, protocol: string): Iterable<L[]> {
  const probe = { port: listener.port, protocol, hostname: `other.${hostnameKey(listener)}` };
  if (conflictBetween(listener, probe) !== undefined) return hostnames.values();
  const same = hostnames.get(hostnameKey(listener));
  return same === undefined ? [] : [same];
}

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
