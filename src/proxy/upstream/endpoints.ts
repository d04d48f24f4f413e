import { hash } from 'node:crypto';
import type { EmptyReason } from '../../core/routing/decision/decide.ts';
import type { ConfigKey, EndpointsConfig } from '../../core/routing/config.ts';
import { formatAddress } from '../sockets/address.ts';
import type { Upstream } from '../messages/forwarder.ts';
import { RetryBudgets, type RetryBudgetAccount, type ThreadShare } from './retry-budget.ts';
import type { ClientIdentity } from './upstream-identity.ts';
import type { ExternalNames, NameState } from './external-names.ts';
import { digestOfAuthorities } from './secure-contexts.ts';

type NameSource = Pick<ExternalNames, 'follow'>;

const firstSuspension = 1_000;
const longestSuspension = 10_000;

/** The protocol and TLS settings of an endpoint. */
export type Manner = Pick<EndpointsConfig, 'protocol' | 'tls'>;

/**
 * An address that requests are sent to, shared by all Services and routes that use it with the same protocol and TLS settings. A change
 * can create and release tens of thousands of them at once, so what requests need is made when the first one needs it.
 */
export class Endpoint {
  private readonly host: string;
  private readonly port: number;
  private readonly manner: Manner;
  private text: string | undefined;
  private raw: Upstream | undefined;
  private common: Upstream | undefined;
  /** Upstreams with a client certificate, by Gateway. A data plane of one Gateway has one entry, regardless of certificate changes. */
  private identified: Map<string, Upstream> | undefined;
  private readonly released: (upstream: Upstream) => void;
  private failures = 0;
  private suspendedUntil = 0;
  private isReleased = false;
  /** Called when this thread has suspended the endpoint, or has connected to it again. */
  changed: ((suspension: Suspension) => void) | undefined;

  /** `released` is called with connections that no further request uses. */
  constructor(
    host: string,
    port: number,
    manner: Manner = {},
    released: (upstream: Upstream) => void = () => undefined,
  ) {
    this.host = host;
    this.port = port;
    this.manner = manner;
    this.released = released;
  }

  /** `host:port`, for logs. */
  get address(): string {
    return (this.text ??= formatAddress(this.host, this.port));
  }

  /** The upstream for raw bytes, regardless of the protocol and TLS settings. */
  get plain(): Upstream {
    return (this.raw ??= { host: this.host, port: this.port });
  }

  /** Returns the upstream for a Gateway (`namespace/name`). `identity` returns client certificates, for connections over TLS. */
  upstream(gateway: string, identity: ClientIdentity): Upstream {
    const { tls } = this.manner;
    if (tls === undefined || tls.clientCertificate === 'none') return this.anonymous;
    const client = identity(tls.clientCertificate?.secret);
    this.identified ??= new Map();
    const known = this.identified.get(gateway);
    if (known?.tls?.client?.cert === client?.cert) return known ?? this.anonymous;
    this.identified.delete(gateway);
    if (known !== undefined) this.released(known);
    if (client === undefined) return this.anonymous;
    const renewed = this.made({ tls: { ...tls, client } });
    this.identified.set(gateway, renewed);
    return renewed;
  }

  /** The upstream without a client certificate. */
  private get anonymous(): Upstream {
    return (this.common ??= this.made());
  }

  private made(identified: Pick<Upstream, 'tls'> = {}): Upstream {
    const upstream = { host: this.host, port: this.port, ...this.manner, ...identified };
    // A request that chose the endpoint before its release may still come.
    if (this.isReleased) this.released(upstream);
    return upstream;
  }

  /** Releases all connections: requests that choose an endpoint from now on do not go there. */
  release(): void {
    this.isReleased = true;
    if (this.common !== undefined) this.released(this.common);
    for (const upstream of this.identified?.values() ?? []) this.released(upstream);
    this.identified = undefined;
  }

  /** Suspends the endpoint after a failed connection: for a second, doubled with each repetition up to ten. */
  connectFailed(now: number): void {
    const time = Math.min(firstSuspension * 2 ** this.failures, longestSuspension);
    const suspension = { failures: this.failures + 1, time };
    this.suspend(suspension, now);
    this.changed?.(suspension);
  }

  connected(): void {
    if (this.failures === 0) return;
    this.suspend(notSuspended, 0);
    this.changed?.(notSuspended);
  }

  /** Suspends the endpoint, or ends its suspension, as another thread has done. */
  suspend({ failures, time }: Suspension, now: number): void {
    this.failures = failures;
    this.suspendedUntil = now + time;
  }

  isSuspended(now: number): boolean {
    return this.suspendedUntil > now;
  }
}

/** The suspension of an endpoint after failed connections. */
export interface Suspension {
  /** Consecutive ones. */
  readonly failures: number;
  /** Milliseconds. */
  readonly time: number;
}

const notSuspended: Suspension = { failures: 0, time: 0 };

/** What the endpoints of a thread have to do with those of other threads. */
export interface ThreadedEndpoints extends ThreadShare {
  /** Tells the other threads about a suspension. `key` identifies the endpoint in all of them. */
  readonly suspended: (key: string, suspension: Suspension) => void;
}

/** The properties of an `EndpointSet` besides its endpoints. */
interface EndpointTraits {
  readonly failure?: string | undefined;
  readonly whyEmpty?: EmptyReason | undefined;
  readonly budget?: RetryBudgetAccount | undefined;
  readonly externalHostname?: string | undefined;
}

/** The ready endpoints of one Service port, used in turn. */
export class EndpointSet {
  /** The reason why no request may be sent there. */
  readonly failure: string | undefined;
  readonly whyEmpty: EmptyReason | undefined;
  /** The retry budget of the backend; `undefined`: retries are not limited. */
  readonly budget: RetryBudgetAccount | undefined;
  /** The name that the endpoints are addresses of; `undefined` for backends in the cluster. */
  readonly externalHostname: string | undefined;
  private readonly endpoints: readonly Endpoint[];
  private members: ReadonlySet<Endpoint> | undefined;
  private cursor = 0;

  /** Continues after the endpoint that `previous` chose last, so that frequent changes do not prefer the first ones. */
  constructor(endpoints: readonly Endpoint[], traits: EndpointTraits = {}, previous?: EndpointSet) {
    this.endpoints = endpoints;
    this.failure = traits.failure;
    this.whyEmpty = traits.whyEmpty;
    this.budget = traits.budget;
    this.externalHostname = traits.externalHostname;
    if (previous !== undefined) this.resume(previous);
  }

  private resume({ endpoints, cursor }: EndpointSet): void {
    const next = endpoints[cursor];
    const position = next === undefined ? -1 : this.endpoints.indexOf(next);
    // The next one may be gone, or may have other settings.
    this.cursor = position === -1 ? cursor % Math.max(this.endpoints.length, 1) : position;
  }

  /**
   * Returns the next endpoint that was not tried yet. Suspended endpoints are chosen only if no other is left, so a
   * Service that seems completely down is still tried. `undefined` if all were tried or there are none.
   */
  pick(tried: readonly Endpoint[], now: number): Endpoint | undefined {
    const count = this.endpoints.length;
    let fallback: Endpoint | undefined;
    for (let step = 0; step < count; step += 1) {
      const position = (this.cursor + step) % count;
      const endpoint = this.endpoints[position];
      if (endpoint === undefined) continue;
      const isSuspended = endpoint.isSuspended(now);
      // Thousands of endpoints can be suspended, and comparing each of them with those tried would take long.
      if (isSuspended && fallback !== undefined) continue;
      if (tried.includes(endpoint)) continue;
      if (isSuspended) {
        fallback = endpoint;
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

  /** Whether an endpoint is one of these. Thousands of flows may ask after each change. */
  has(endpoint: Endpoint): boolean {
    return (this.members ??= new Set(this.endpoints)).has(endpoint);
  }
}

/** An endpoint, and the number of sets that hold it. */
class SharedEndpoint extends Endpoint {
  users = 0;
  /** Identifies address, protocol and TLS settings. */
  readonly key: string;

  constructor(key: string, ...endpoint: ConstructorParameters<typeof Endpoint>) {
    super(...endpoint);
    this.key = key;
  }
}

interface HeldSet {
  readonly set: EndpointSet;
  readonly endpoints: readonly SharedEndpoint[];
}

/** All endpoint sets by key. An endpoint exists as long as a set contains it; then its connections are released. */
export class EndpointRegistry {
  private readonly sets = new Map<ConfigKey, HeldSet>();
  private readonly budgets: RetryBudgets;
  private readonly shared = new Map<string, SharedEndpoint>();
  private readonly released: (upstream: Upstream) => void;
  private readonly names: NameSource | undefined;
  private readonly threaded: ThreadedEndpoints | undefined;
  /** Functions that end the use of a name, by endpoints. */
  private readonly following = new Map<ConfigKey, () => void>();

  /**
   * `released` is called with connections that no further request uses, because their endpoint or certificate is gone. Without
   * `names`, external backends have no endpoints. `threaded` is undefined in a data plane with one thread.
   */
  constructor(released: (upstream: Upstream) => void, names?: NameSource, threaded?: ThreadedEndpoints) {
    this.released = released;
    this.names = names;
    this.threaded = threaded;
    this.budgets = new RetryBudgets(threaded);
  }

  /** Applies a suspension of another thread. */
  suspend(key: string, suspension: Suspension, now: number): void {
    this.shared.get(key)?.suspend(suspension, now);
  }

  get(key: ConfigKey): EndpointSet | undefined {
    return this.sets.get(key)?.set;
  }

  upsert(config: EndpointsConfig): void {
    const { key, external, addresses } = config;
    const unfollow = this.following.get(key);
    this.following.delete(key);
    if (external === undefined) this.install(config, addresses);
    else this.follow(config, external);
    // Last, so that the addresses of a name that is still used stay known.
    unfollow?.();
  }

  remove(key: ConfigKey): void {
    const previous = this.sets.get(key);
    this.sets.delete(key);
    this.letGo(previous);
    this.following.get(key)?.();
    this.following.delete(key);
  }

  private follow(config: EndpointsConfig, { hostname, port }: NonNullable<EndpointsConfig['external']>): void {
    const install = ({ addresses, problem }: NameState): void =>
      this.install(
        config,
        addresses.map((host) => ({ host, port })),
        problem,
      );
    if (this.names === undefined) install({ addresses: [], problem: 'name-unresolved' });
    else this.following.set(config.key, this.names.follow(hostname, install));
  }

  private install(config: EndpointsConfig, addresses: EndpointsConfig['addresses'], whyEmpty?: EmptyReason): void {
    const previous = this.sets.get(config.key);
    // The new set acquires its endpoints before the old one releases them, so that endpoints in both keep their connections.
    const manner = mannerOf(config);
    const digest = digestOf(manner);
    const endpoints = addresses.map(({ host, port }) => this.hold(host, port, manner, digest));
    const budget = config.retryBudget === undefined ? undefined : this.budgets.hold(config.retryBudget);
    const traits = { failure: config.failure, whyEmpty, budget, externalHostname: config.external?.hostname };
    this.sets.set(config.key, { set: new EndpointSet(endpoints, traits, previous?.set), endpoints });
    this.letGo(previous);
  }

  private hold(host: string, port: number, manner: Manner, digest: string): SharedEndpoint {
    const key = `${host} ${port} ${digest}`;
    let endpoint = this.shared.get(key);
    if (endpoint === undefined) {
      endpoint = this.create(key, host, port, manner);
      this.shared.set(key, endpoint);
    }
    endpoint.users += 1;
    return endpoint;
  }

  private create(key: string, host: string, port: number, manner: Manner): SharedEndpoint {
    const { released, threaded } = this;
    const endpoint = new SharedEndpoint(key, host, port, manner, released);
    if (threaded !== undefined) endpoint.changed = (suspension) => threaded.suspended(key, suspension);
    return endpoint;
  }

  private letGo(held: HeldSet | undefined): void {
    if (held === undefined) return;
    const { set, endpoints } = held;
    if (set.budget !== undefined) this.budgets.release(set.budget);
    for (const endpoint of endpoints) {
      endpoint.users -= 1;
      if (endpoint.users > 0) continue;
      this.shared.delete(endpoint.key);
      endpoint.release();
    }
  }
}

/** Returns a copy without the addresses, which endpoints must not keep. */
function mannerOf({ protocol, tls }: EndpointsConfig): Manner {
  return { ...(protocol && { protocol }), ...(tls && { tls }) };
}

/** A short text that is equal for equal manners. Computed once for all addresses, because a backend can have thousands of them. */
function digestOf({ protocol, tls }: Manner): string {
  const settings = tls && { ...tls, authorities: digestOfAuthorities(tls.authorities) };
  return hash('sha256', JSON.stringify([protocol, settings]));
}
