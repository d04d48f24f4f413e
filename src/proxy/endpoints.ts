import type { ConfigKey, EndpointsConfig } from '../core/routing/config.ts';
import { formatAddress } from './address.ts';
import type { Upstream } from './forwarder.ts';
import type { CertificatePair } from './tls-termination.ts';

const firstSuspension = 1_000;
const longestSuspension = 10_000;

/** How an endpoint is spoken to. */
export type Manner = Pick<EndpointsConfig, 'protocol' | 'tls'>;

/** One address that requests can be sent to, shared by all Services and routes that lead there in the same manner. */
export class Endpoint {
  /** `host:port`, for logs. */
  readonly address: string;
  /** Where to send bytes as they are, whatever the manner says. */
  readonly plain: Upstream;
  private readonly anonymous: Upstream;
  /** Those that prove themselves, by Gateway: a data plane that serves one has one, whatever certificates come and go. */
  private readonly identified = new Map<string, Upstream>();
  private readonly released: (upstream: Upstream) => void;
  private failures = 0;
  private suspendedUntil = 0;

  /** `released` is told of connections that no further request goes over. */
  constructor(host: string, port: number, { protocol, tls }: Manner = {}, released: (upstream: Upstream) => void = () => undefined) {
    this.address = formatAddress(host, port);
    this.plain = { host, port };
    this.anonymous = { ...this.plain, ...(protocol && { protocol }), ...(tls && { tls }) };
    this.released = released;
  }

  /**
   * Where to send for a Gateway (`namespace/name`); `identity` is asked what to prove oneself with, where the connection
   * is made over TLS.
   */
  upstream(gateway: string, identity: () => CertificatePair | undefined): Upstream {
    const { tls } = this.anonymous;
    if (tls === undefined) return this.anonymous;
    const client = identity();
    const known = this.identified.get(gateway);
    if (known?.tls?.client?.cert === client?.cert) return known ?? this.anonymous;
    this.identified.delete(gateway);
    if (known !== undefined) this.released(known);
    if (client === undefined) return this.anonymous;
    const renewed = { ...this.anonymous, tls: { ...tls, client } };
    this.identified.set(gateway, renewed);
    return renewed;
  }

  /** No further request goes there. */
  release(): void {
    for (const upstream of [this.anonymous, ...this.identified.values()]) this.released(upstream);
    this.identified.clear();
  }

  /** No connection came about: left out for a second, and twice as long each time it happens again, up to ten. */
  connectFailed(now: number): void {
    this.suspendedUntil = now + Math.min(firstSuspension * 2 ** this.failures, longestSuspension);
    this.failures += 1;
  }

  connected(): void {
    this.failures = 0;
    this.suspendedUntil = 0;
  }

  isSuspended(now: number): boolean {
    return this.suspendedUntil > now;
  }
}

/** The ready endpoints of one port of a Service, taken in turn. */
export class EndpointSet {
  /** Why nothing may be sent there. */
  readonly failure: string | undefined;
  private readonly endpoints: readonly Endpoint[];
  private cursor = 0;

  constructor(endpoints: readonly Endpoint[], failure?: string) {
    this.endpoints = endpoints;
    this.failure = failure;
  }

  /**
   * The next endpoint that was not tried yet. Suspended ones come only when no other is left: a Service that looks
   * dead as a whole is still tried. `undefined` where all were tried or there are none.
   */
  pick(tried: readonly Endpoint[], now: number): Endpoint | undefined {
    const count = this.endpoints.length;
    let fallback: Endpoint | undefined;
    for (let step = 0; step < count; step += 1) {
      const position = (this.cursor + step) % count;
      const endpoint = this.endpoints[position];
      if (endpoint === undefined || tried.includes(endpoint)) continue;
      if (endpoint.isSuspended(now)) {
        fallback ??= endpoint;
        continue;
      }
      this.cursor = (position + 1) % count;
      return endpoint;
    }
    if (count > 0) this.cursor = (this.cursor + 1) % count;
    return fallback;
  }

  get isEmpty(): boolean {
    return this.endpoints.length === 0;
  }

  all(): readonly Endpoint[] {
    return this.endpoints;
  }
}

interface Shared {
  /** Address and manner. */
  readonly key: string;
  readonly endpoint: Endpoint;
  users: number;
}

/** All endpoint sets by key. An endpoint lives as long as some set holds it; then its connections can go. */
export class EndpointRegistry {
  private readonly sets = new Map<ConfigKey, EndpointSet>();
  private readonly shared = new Map<string, Shared>();
  private readonly entries = new WeakMap<Endpoint, Shared>();
  private readonly released: (upstream: Upstream) => void;

  /** `released` is told of connections that no further request goes over: their endpoint or certificate has gone. */
  constructor(released: (upstream: Upstream) => void) {
    this.released = released;
  }

  get(key: ConfigKey): EndpointSet | undefined {
    return this.sets.get(key);
  }

  upsert(config: EndpointsConfig): void {
    const previous = this.sets.get(config.key);
    // The new set takes hold before the old one lets go, so that endpoints in both keep their connections.
    const endpoints = config.addresses.map(({ host, port }) => this.hold(host, port, config));
    this.sets.set(config.key, new EndpointSet(endpoints, config.failure));
    this.letGo(previous);
  }

  remove(key: ConfigKey): void {
    const previous = this.sets.get(key);
    this.sets.delete(key);
    this.letGo(previous);
  }

  private hold(host: string, port: number, manner: Manner): Endpoint {
    const key = JSON.stringify([host, port, manner.protocol, manner.tls]);
    const entry = this.shared.get(key) ?? { key, endpoint: new Endpoint(host, port, manner, this.released), users: 0 };
    entry.users += 1;
    this.shared.set(key, entry);
    this.entries.set(entry.endpoint, entry);
    return entry.endpoint;
  }

  private letGo(set: EndpointSet | undefined): void {
    for (const endpoint of set?.all() ?? []) {
      const entry = this.entries.get(endpoint);
      if (entry === undefined) continue;
      entry.users -= 1;
      if (entry.users > 0) continue;
      this.shared.delete(entry.key);
      endpoint.release();
    }
  }
}
