import { hostnameKey } from '../text/hostname.ts';

/** The fields that distinguish a listener from others of its Gateway. */
export interface ListenerClaim {
  readonly port: number;
  readonly protocol: string;
  /** Absent or `''`: any host. */
  readonly hostname?: string;
}

/** Reasons of the condition Conflicted. */
export type ConflictReason = 'ProtocolConflict' | 'HostnameConflict';

/** How listeners of a protocol are distinguished on one port. `wire`: the first bytes that a client sends. */
interface Distinction {
  readonly transport: 'tcp' | 'udp';
  /**
   * Protocols with the same wire cannot be distinguished before the hostname is known. `any`: the client may send any bytes
   * first.
   */
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
 * The reason why two listeners are not distinct, `undefined` if they are (Gateway.spec.listeners, "Distinct Listeners",
 * v1.7). HTTPS and TLS listeners can share a port if their hostnames differ, because both start with a server name. A TCP
 * listener conflicts with HTTP, HTTPS and TLS listeners on its port, a UDP listener with none of them. Protocols of other
 * implementations conflict only with themselves.
 */
export function conflictBetween(one: ListenerClaim, other: ListenerClaim): ConflictReason | undefined {
  if (one.port !== other.port) return undefined;
  const clash = clashOf(one.protocol, other.protocol);
  if (clash === 'never' || (clash === 'equal hostnames' && hostKey(one) !== hostKey(other))) return undefined;
  return one.protocol === other.protocol ? 'HostnameConflict' : 'ProtocolConflict';
}

/** When listeners of two protocols conflict on one port. TCP and UDP have no hostnames. */
function clashOf(one: string, other: string): 'always' | 'equal hostnames' | 'never' {
  const left = distinctions.get(one);
  if (one === other) return left?.wire === 'any' ? 'always' : 'equal hostnames';
  const right = distinctions.get(other);
  if (left === undefined || right === undefined || left.transport !== right.transport) return 'never';
  return left.wire === 'tls' && right.wire === 'tls' ? 'equal hostnames' : 'always';
}

/** The hostname for comparisons; `''` stands for any host. */
function hostKey({ hostname = '' }: ListenerClaim): string {
  return hostnameKey(hostname);
}

/** A set of listeners with a search for conflicts that does not scan all of them. */
export class ListenerClaims<L extends ListenerClaim> {
  /** By port, then by protocol, then by hostname. */
  private readonly ports = new Map<number, Map<string, Map<string, L[]>>>();

  add(listener: L): void {
    const protocols = entryOf(this.ports, listener.port, () => new Map<string, Map<string, L[]>>());
    const hostnames = entryOf(protocols, listener.protocol, () => new Map<string, L[]>());
    entryOf(hostnames, hostKey(listener), () => []).push(listener);
  }

  /**
   * The other listeners that conflict with `listener`: at most `most` of them, in insertion order within their protocol and
   * hostname. Conflicts between different protocols take precedence over those within one.
   */
  conflictsOf(
    listener: L,
    limit: number,
  ): { readonly reason: ConflictReason; readonly others: readonly L[] } | undefined {
    const found: Record<ConflictReason, L[]> = { ProtocolConflict: [], HostnameConflict: [] };
    for (const [protocol, hostnames] of this.ports.get(listener.port) ?? []) {
      let remaining = limit + 1;
      for (const candidates of bucketsOf(hostnames, listener, protocol)) {
        for (const candidate of candidates.slice(0, remaining)) {
          const reason = candidate === listener ? undefined : conflictBetween(listener, candidate);
          if (reason !== undefined && found[reason].length < limit) found[reason].push(candidate);
        }
        // Thousands of listeners with hostnames of their own may conflict with each listener of another protocol.
        remaining -= candidates.length;
        if (remaining <= 0) break;
      }
    }
    const reason = found.ProtocolConflict.length > 0 ? 'ProtocolConflict' : 'HostnameConflict';
    return found[reason].length === 0 ? undefined : { reason, others: found[reason] };
  }
}

/** The listeners of a protocol that may conflict: those with the same hostname, or all if hostnames do not distinguish them. */
function bucketsOf<L extends ListenerClaim>(
  hostnames: ReadonlyMap<string, L[]>,
  listener: ListenerClaim,
  protocol: string,
): Iterable<L[]> {
  const clash = clashOf(listener.protocol, protocol);
  if (clash === 'always') return hostnames.values();
  const same = clash === 'never' ? undefined : hostnames.get(hostKey(listener));
  return same === undefined ? [] : [same];
}

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
