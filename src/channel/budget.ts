import { secretOf, type ConfigKey } from '../core/routing/config.ts';
import { ofEndpointsKey } from '../core/graph/backends/endpoints-key.ts';
import { ofQualifiedName, refOfKey } from '../core/resources/reference.ts';
import { bundleOf } from './bundles.ts';
import type { ChannelResource } from './messages.ts';

/** The limits for the configuration of a Gateway, in bytes: for its routes, for the endpoints of their backends, and for its listeners. */
export interface ConfigurationLimits {
  /** JSON. A data plane needs up to eleven times as much for the routes. */
  readonly routes: number;
  /** Memory of a data plane, see `weightOf`. */
  readonly endpoints: number;
  readonly listeners: number;
}

/** The heap of a data plane without parameters. */
const usualHeap = 384 * 2 ** 20;

/**
 * With these, the configuration takes at most about 400 MiB of a data plane, and as JSON less than the bytes that may be queued for one
 * (`ServeLimits.backlog`).
 */
const usualLimits: ConfigurationLimits = { routes: 26 * 2 ** 20, endpoints: 48 * 2 ** 20, listeners: 48 * 2 ** 20 };

/**
 * Returns the limits for data planes whose workers have this heap.
 *
 * @param heap bytes; undefined: unlimited
 */
export function configurationLimits(heap = Infinity): ConfigurationLimits {
  const factor = Math.min(heap / usualHeap, 1);
  const { routes, endpoints, listeners } = usualLimits;
  return { routes: routes * factor, endpoints: endpoints * factor, listeners: listeners * factor };
}

export type BudgetPart = keyof ConfigurationLimits;

/** A resource that a Gateway has no room for: its bytes, and the limit for all resources of its part. */
export interface Withheld {
  readonly part: BudgetPart;
  /** The namespace of the object that it comes from, in whose share it is. */
  readonly namespace: string;
  readonly bytes: number;
  readonly limit: number;
}

/** A resource with the bytes that count for its limit. */
export interface Weighed {
  readonly resource: ChannelResource;
  /** See `weightOf`. */
  readonly bytes: number;
  /** What it shares with others of its namespace, see `sharedWeightOf`. */
  readonly shared?: { readonly key: string; readonly bytes: number } | undefined;
}

/** Bytes that a data plane needs besides the text: for the state of an address, for a loaded CA certificate, and for a TLS context. */
const perAddress = 800;
const perAuthority = 4_000;
const perContext = 20_000;

/** Endpoints, listeners and certificates need about this many times their text. */
const perText = 3;

/**
 * Returns the bytes of a resource that count for its limit, without its CA certificates.
 *
 * @param json the bytes of an upsert of the resource in a message
 */
export function weightOf(resource: ChannelResource, json: number): number {
  const { kind } = resource;
  if (kind === 'endpoints') return perText * json + perAddress * resource.addresses.length;
  if (kind === 'certificate') return perText * json + perContext;
  return kind === 'listener' ? perText * json : json;
}

/**
 * Returns the TLS context for connections to endpoints, or the CA certificates for the clients of a listener, and the bytes that count for its limit.
 * Equal ones count once in each namespace.
 */
export function sharedWeightOf(resource: ChannelResource): Weighed['shared'] {
  const bundle = bundleOf(resource);
  const secret = resource.kind === 'endpoints' ? secretOf(resource) : undefined;
  if (bundle === undefined && secret === undefined) return undefined;
  const { digest = '', bytes = 0, authorities = [] } = bundle ?? {};
  const context = resource.kind === 'endpoints' ? perContext + perAuthority * authorities.length : 0;
  return { key: `${digest} ${secret ?? ''}`, bytes: perText * bytes + context };
}

const parts: Readonly<Record<ChannelResource['kind'], BudgetPart | undefined>> = {
  route: 'routes',
  layer4Route: 'routes',
  endpoints: 'endpoints',
  listener: 'listeners',
  certificate: 'listeners',
  // One of each.
  sessionKeys: undefined,
  traceKey: undefined,
};

/** The namespace of the object that a resource comes from: that of the ListenerSet for its listeners, of the Service for endpoints. */
function namespaceOf(resource: ChannelResource): string {
  switch (resource.kind) {
    case 'route':
    case 'layer4Route':
      return ofQualifiedName(resource.route).namespace;
    case 'endpoints':
      return ofEndpointsKey(resource.key).backend.namespace;
    case 'listener':
      return refOfKey(resource.owner).namespace;
    case 'certificate':
      return ofQualifiedName(resource.secret).namespace;
    case 'sessionKeys':
    case 'traceKey':
      return '';
  }
}

/** The oldest route first, then by name. Other resources have no age. Listeners precede certificates, which nothing else uses. */
function precedence(resource: ChannelResource): string {
  if (resource.kind === 'route' || resource.kind === 'layer4Route') return `${resource.created} ${resource.key}`;
  return `${resource.kind === 'certificate' ? 1 : 0} ${resource.key}`;
}

/** What the resources of one namespace take. */
interface Use {
  bytes: number;
  readonly keys: Set<ConfigKey>;
  /** The keys by precedence, until one of the resources changes. */
  ordered: readonly ConfigKey[] | undefined;
  /** The number of resources that share something, by its key. */
  readonly sharers: Map<string, number>;
}

/** One part of the budget. */
class Account {
  limit: number;
  readonly uses = new Map<string, Use>();
  total = 0;
  /** Whether anything has changed since `beyond` was computed. */
  isChanged = false;
  /** The namespaces beyond their share, with the keys that they have no room for. */
  beyond: ReadonlyMap<string, readonly ConfigKey[]> = new Map();

  constructor(limit: number) {
    this.limit = limit;
  }

  add(namespace: string, key: ConfigKey, { bytes, shared }: Weighed): void {
    const use = this.uses.get(namespace) ?? { bytes: 0, keys: new Set(), ordered: undefined, sharers: new Map() };
    this.uses.set(namespace, use);
    use.keys.add(key);
    this.change(use, bytes);
    if (shared === undefined) return;
    const users = use.sharers.get(shared.key) ?? 0;
    if (users === 0) this.change(use, shared.bytes);
    use.sharers.set(shared.key, users + 1);
  }

  remove(namespace: string, key: ConfigKey, { bytes, shared }: Weighed): void {
    const use = this.uses.get(namespace);
    if (use === undefined) return;
    use.keys.delete(key);
    if (use.keys.size === 0) this.uses.delete(namespace);
    this.change(use, -bytes);
    if (shared === undefined) return;
    const users = use.sharers.get(shared.key) ?? 0;
    if (users > 1) use.sharers.set(shared.key, users - 1);
    else {
      use.sharers.delete(shared.key);
      this.change(use, -shared.bytes);
    }
  }

  private change(use: Use, bytes: number): void {
    use.bytes += bytes;
    use.ordered = undefined;
    this.total += bytes;
    this.isChanged = true;
  }

  /**
   * The share of each namespace: as much as possible, so that all together stay within the limit. A namespace that needs less leaves
   * the rest to the others. So whoever needs most loses first, and no neighbor does.
   */
  share(): number {
    if (this.total <= this.limit) return Infinity;
    let rest = this.limit;
    const needs = [...this.uses.values()].map(({ bytes }) => bytes).sort((one, other) => one - other);
    for (const [index, need] of needs.entries()) {
      const equal = rest / (needs.length - index);
      if (need > equal) return equal;
      rest -= need;
    }
    return Infinity;
  }
}

/**
 * Limits the configuration of one Gateway. Each namespace has an equal share, and what it does not need is for the others. The oldest
 * routes of a namespace come first. The result depends on the resources only, so all replicas withhold the same, and a
 * change costs more than itself only in a Gateway beyond its limit.
 */
export class ConfigurationBudget {
  private readonly resources: ReadonlyMap<ConfigKey, Weighed>;
  private readonly accounts: Readonly<Record<BudgetPart, Account>>;
  private withheld: ReadonlyMap<ConfigKey, Withheld> = new Map();

  /** @param resources all resources; call `count` for each change */
  constructor(resources: ReadonlyMap<ConfigKey, Weighed>, limits: ConfigurationLimits) {
    this.resources = resources;
    this.accounts = {
      routes: new Account(limits.routes),
      endpoints: new Account(limits.endpoints),
      listeners: new Account(limits.listeners),
    };
  }

  setLimits(limits: ConfigurationLimits): void {
    for (const part of Object.keys(this.accounts) as BudgetPart[]) {
      this.accounts[part].limit = limits[part];
      this.accounts[part].isChanged = true;
    }
  }

  /** Counts a change of a resource: what it was, and what it is. */
  count(key: ConfigKey, before: Weighed | undefined, now: Weighed | undefined): void {
    if (before !== undefined) this.accountOf(before)?.remove(namespaceOf(before.resource), key, before);
    if (now !== undefined) this.accountOf(now)?.add(namespaceOf(now.resource), key, now);
  }

  /** The resources without room; the same map as long as they stay the same. */
  beyond(): ReadonlyMap<ConfigKey, Withheld> {
    let isChanged = false;
    for (const account of Object.values(this.accounts)) {
      if (!account.isChanged) continue;
      account.isChanged = false;
      const beyond = this.beyondOf(account);
      isChanged ||= beyond.size > 0 || account.beyond.size > 0;
      account.beyond = beyond;
    }
    if (!isChanged) return this.withheld;
    const withheld = new Map<ConfigKey, Withheld>();
    for (const part of Object.keys(this.accounts) as BudgetPart[]) {
      const { beyond, limit } = this.accounts[part];
      for (const [namespace, keys] of beyond) {
        for (const key of keys) {
          const { bytes = 0, shared } = this.resources.get(key) ?? {};
          withheld.set(key, { part, namespace, bytes: bytes + (shared?.bytes ?? 0), limit });
        }
      }
    }
    if (!isEqual(withheld, this.withheld)) this.withheld = withheld;
    return this.withheld;
  }

  private beyondOf(account: Account): ReadonlyMap<string, readonly ConfigKey[]> {
    const share = account.share();
    const beyond = new Map<string, readonly ConfigKey[]>();
    for (const [namespace, use] of account.uses)
      if (use.bytes > share) beyond.set(namespace, this.beyondShare(use, share));
    return beyond;
  }

  /** A resource that does not fit takes nothing from the ones after it. */
  private beyondShare(use: Use, share: number): readonly ConfigKey[] {
    use.ordered ??= this.inOrder(use.keys);
    let left = share;
    const counted = new Set<string>();
    return use.ordered.filter((key) => {
      const weighed = this.resources.get(key);
      if (weighed === undefined) return false;
      const { bytes, shared } = weighed;
      const isNew = shared !== undefined && !counted.has(shared.key);
      const needed = isNew ? bytes + shared.bytes : bytes;
      if (needed > left) return true;
      left -= needed;
      if (isNew) counted.add(shared.key);
      return false;
    });
  }

  private inOrder(keys: ReadonlySet<ConfigKey>): readonly ConfigKey[] {
    const orders = [...keys].flatMap((key) => {
      const weighed = this.resources.get(key);
      return weighed === undefined ? [] : [{ key, order: precedence(weighed.resource) }];
    });
    return orders.sort((one, other) => (one.order < other.order ? -1 : 1)).map(({ key }) => key);
  }

  private accountOf({ resource }: Weighed): Account | undefined {
    const part = parts[resource.kind];
    return part === undefined ? undefined : this.accounts[part];
  }
}

function isEqual(one: ReadonlyMap<ConfigKey, Withheld>, other: ReadonlyMap<ConfigKey, Withheld>): boolean {
  if (one.size !== other.size) return false;
  for (const [key, { bytes, limit }] of one) {
    const same = other.get(key);
    if (same === undefined || same.bytes !== bytes || same.limit !== limit) return false;
  }
  return true;
}
