import type { ConfigKey, EndpointsConfig } from '../core/routing/config.ts';
import { formatAddress } from './address.ts';

const firstSuspension = 1_000;
const longestSuspension = 10_000;

/** One address that requests can be sent to, shared by all Services and routes that lead there. */
export class Endpoint {
  /** `http://host:port`. */
  readonly origin: string;
  /** `host:port`, for logs. */
  readonly address: string;
  private failures = 0;
  private suspendedUntil = 0;

  constructor(address: string) {
    this.address = address;
    this.origin = `http://${address}`;
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
  private readonly endpoints: readonly Endpoint[];
  private cursor = 0;

  constructor(endpoints: readonly Endpoint[]) {
    this.endpoints = endpoints;
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
  readonly endpoint: Endpoint;
  users: number;
}

/** All endpoint sets by key. An endpoint lives as long as some set holds it; then its connections can go. */
export class EndpointRegistry {
  private readonly sets = new Map<ConfigKey, EndpointSet>();
  private readonly shared = new Map<string, Shared>();
  private readonly released: (endpoint: Endpoint) => void;

  /** `released` is told of each endpoint that no set holds any more. */
  constructor(released: (endpoint: Endpoint) => void) {
    this.released = released;
  }

  get(key: ConfigKey): EndpointSet | undefined {
    return this.sets.get(key);
  }

  upsert(config: EndpointsConfig): void {
    const previous = this.sets.get(config.key);
    // The new set takes hold before the old one lets go, so that endpoints in both keep their connections.
    this.sets.set(config.key, new EndpointSet(config.addresses.map(({ host, port }) => this.hold(host, port))));
    this.letGo(previous);
  }

  remove(key: ConfigKey): void {
    const previous = this.sets.get(key);
    this.sets.delete(key);
    this.letGo(previous);
  }

  private hold(host: string, port: number): Endpoint {
    const address = formatAddress(host, port);
    const entry = this.shared.get(address) ?? { endpoint: new Endpoint(address), users: 0 };
    entry.users += 1;
    this.shared.set(address, entry);
    return entry.endpoint;
  }

  private letGo(set: EndpointSet | undefined): void {
    for (const endpoint of set?.all() ?? []) {
      const entry = this.shared.get(endpoint.address);
      if (entry === undefined) continue;
      entry.users -= 1;
      if (entry.users > 0) continue;
      this.shared.delete(endpoint.address);
      this.released(endpoint);
    }
  }
}
