import { prepareFingerprint } from '../channel/bundles.ts';
import { sessionKeysKey, type ChannelResource, type TraceKeyResource } from '../channel/messages.ts';
import {
  endpointsFor,
  endpointsOf,
  routeFor,
  secretOf,
  secretsOf,
  sessionsOf,
  type ConfigKey,
  type Layer4RouteConfig,
  type ListenerConfig,
  type RouteConfig,
} from '../core/routing/config.ts';
import { fitted } from '../core/text/fitted.ts';
import type { Steps } from '../core/text/steps.ts';
import { sessionKeysFor } from './session-keys.ts';
import { gatewayOfListener } from '../core/routing/listener-key.ts';

/** A change of configuration. A key is either upserted or removed. */
export interface ConfigurationChange {
  readonly upserted: ReadonlyMap<ConfigKey, Exclude<ChannelResource, TraceKeyResource>>;
  readonly removed: ReadonlySet<ConfigKey>;
}

/** The part of a change that concerns one Gateway. */
export interface GatewayChange {
  readonly upserts: Map<ConfigKey, ChannelResource>;
  readonly removals: Set<ConfigKey>;
}

/** A listener or a route: the Gateways that it belongs to, and the shared resources that it uses. */
interface Placed {
  readonly key: ConfigKey;
  /** Each once. Both lists are short, and a Set needs several times the memory. */
  readonly gateways: readonly string[];
  readonly uses: readonly ConfigKey[];
}

/** What `place` needs. */
interface Placement {
  readonly placed: Placed;
  /** What each of the Gateways gets, in the same order. */
  readonly parts: readonly User[];
}

type User = ListenerConfig | RouteConfig | Layer4RouteConfig;
type Shared = Exclude<ChannelResource, User | TraceKeyResource>;

/**
 * Splits the configuration of all data planes by Gateway, incrementally. A Gateway gets its listeners with their certificates,
 * the routes that are attached to them (without their attachments to other Gateways), the endpoints that both use, and the
 * client certificates of these endpoints.
 * The cost of a change is proportional to the resources that it touches.
 */
export class ConfigurationByGateway {
  private readonly placed = new Map<ConfigKey, Placed>();
  /** Endpoints, certificates, and keys for sessions. */
  private readonly shared = new Map<ConfigKey, Shared>();
  /** Key of a shared resource → Gateway → listeners, routes and endpoints of that Gateway that use it. */
  private readonly users = new Map<ConfigKey, Map<string, Set<ConfigKey>>>();
  /** Those of the last `prepare`. */
  private prepared = new WeakMap<User, Placement>();

  /**
   * Does most of the work of `apply` and of the publication in steps. It changes no result. A change of one Service may concern thousands of
   * backendRefs, and `apply` must not be interrupted: other changes would come before a part of this one.
   */
  *prepare(upserted: Iterable<Exclude<ChannelResource, TraceKeyResource>>): Steps<void> {
    this.prepared = new WeakMap();
    for (const resource of upserted) {
      if (isUser(resource)) {
        const placement = placementOf(resource);
        this.prepared.set(resource, placement);
        for (const part of placement.parts) {
          yield* prepareFingerprint(part);
          yield;
        }
      } else if (resource.kind === 'endpoints') yield* prepareFingerprint(resource);
      yield;
    }
  }

  /** @returns the changes by `namespace/name` of the Gateway, only for affected Gateways */
  apply({ upserted, removed }: ConfigurationChange): ReadonlyMap<string, GatewayChange> {
    const changes = new Changes();
    const users: User[] = [];
    for (const resource of upserted.values()) {
      if (isUser(resource)) users.push(resource);
      else this.share(resource, changes);
    }
    for (const user of users) this.place(user, changes);
    for (const key of removed) this.remove(key, changes);
    return changes.byGateway;
  }

  private share(resource: Shared, changes: Changes): void {
    const before = neededBy(this.shared.get(resource.key));
    const now = neededBy(resource);
    this.shared.set(resource.key, resource);
    for (const gateway of this.users.get(resource.key)?.keys() ?? []) {
      changes.upsert(gateway, shareFor(gateway, resource));
      if (before === now) continue;
      const use = { user: resource.key, changes };
      if (now !== undefined) this.use(now, gateway, use);
      if (before !== undefined) this.unuse(before, gateway, use);
    }
  }

  private place(resource: User, changes: Changes): void {
    const before = this.placed.get(resource.key);
    const { placed, parts } = this.prepared.get(resource) ?? placementOf(resource);
    this.placed.set(resource.key, placed);
    for (const [index, gateway] of placed.gateways.entries()) {
      changes.upsert(gateway, parts[index] ?? partFor(gateway, resource));
      for (const key of placed.uses) this.use(key, gateway, { user: resource.key, changes });
    }
    if (before !== undefined) this.release(before, placed, changes);
  }

  private remove(key: ConfigKey, changes: Changes): void {
    const placed = this.placed.get(key);
    if (placed !== undefined) {
      this.placed.delete(key);
      this.release(placed, { key, gateways: [], uses: [] }, changes);
      return;
    }
    const needed = neededBy(this.shared.get(key));
    if (!this.shared.delete(key)) return;
    for (const gateway of this.users.get(key)?.keys() ?? []) {
      changes.remove(gateway, key);
      if (needed !== undefined) this.unuse(needed, gateway, { user: key, changes });
    }
  }

  private use(key: ConfigKey, gateway: string, { user, changes }: Use): void {
    const users = this.users.get(key) ?? new Map<string, Set<ConfigKey>>();
    this.users.set(key, users);
    const present = users.get(gateway);
    if (present !== undefined) {
      present.add(user);
      return;
    }
    users.set(gateway, new Set([user]));
    const known = this.shared.get(key);
    if (known === undefined) return;
    changes.upsert(gateway, shareFor(gateway, known));
    const needed = neededBy(known);
    if (needed !== undefined) this.use(needed, gateway, { user: key, changes });
  }

  /** Removes the uses that `before` has and `now` does not. */
  private release(before: Placed, now: Placed, changes: Changes): void {
    for (const gateway of before.gateways) {
      const stays = now.gateways.includes(gateway);
      if (!stays) changes.remove(gateway, before.key);
      for (const key of before.uses)
        if (!stays || !now.uses.includes(key)) this.unuse(key, gateway, { user: before.key, changes });
    }
  }

  private unuse(key: ConfigKey, gateway: string, { user, changes }: Use): void {
    const users = this.users.get(key);
    const present = users?.get(gateway);
    if (users === undefined || present === undefined) return;
    present.delete(user);
    if (present.size > 0) return;
    users.delete(gateway);
    if (users.size === 0) this.users.delete(key);
    changes.remove(gateway, key);
    const needed = neededBy(this.shared.get(key));
    if (needed !== undefined) this.unuse(needed, gateway, { user: key, changes });
  }
}

interface Use {
  /** A listener, a route, or endpoints. */
  readonly user: ConfigKey;
  readonly changes: Changes;
}

class Changes {
  readonly byGateway = new Map<string, GatewayChange>();

  upsert(gateway: string, resource: ChannelResource): void {
    const { upserts, removals } = this.of(gateway);
    removals.delete(resource.key);
    upserts.set(resource.key, resource);
  }

  remove(gateway: string, key: ConfigKey): void {
    const { upserts, removals } = this.of(gateway);
    upserts.delete(key);
    removals.add(key);
  }

  private of(gateway: string): GatewayChange {
    const known = this.byGateway.get(gateway);
    if (known !== undefined) return known;
    const change = { upserts: new Map<ConfigKey, ChannelResource>(), removals: new Set<ConfigKey>() };
    this.byGateway.set(gateway, change);
    return change;
  }
}

/** The key of a certificate by the `namespace/name` of its Secret. */
export function certificateKey(secret: string): ConfigKey {
  return `certificate/${secret}`;
}

function placementOf(resource: User): Placement {
  const gateways = gatewaysOf(resource);
  return {
    placed: { key: resource.key, gateways, uses: usesOf(resource) },
    parts: gateways.map((gateway) => partFor(gateway, resource)),
  };
}

function gatewaysOf(resource: User): readonly string[] {
  return resource.kind === 'listener'
    ? [resource.gateway]
    : distinct(resource.attachments.map(({ listener }) => gatewayOfListener(listener)));
}

function isUser(resource: ChannelResource): resource is User {
  return resource.kind === 'listener' || resource.kind === 'route' || resource.kind === 'layer4Route';
}

function usesOf(resource: User): readonly ConfigKey[] {
  if (resource.kind === 'listener')
    return distinct([...secretsOf(resource).map(certificateKey), ...endpointsOf(resource)]);
  const hasSessions = resource.kind === 'route' && sessionsOf(resource).length > 0;
  return distinct([...endpointsOf(resource), ...(hasSessions ? [sessionKeysKey] : [])]);
}

/** The key of the certificate without which connections to endpoints are impossible; `undefined` if they need none. */
function neededBy(resource: Shared | undefined): ConfigKey | undefined {
  const secret = resource?.kind === 'endpoints' ? secretOf(resource) : undefined;
  return secret === undefined ? undefined : certificateKey(secret);
}

/** Each item once. */
function distinct(items: readonly string[]): readonly string[] {
  return fitted([...new Set(items)]);
}

/** Omits attachments of a route to other Gateways. */
function partFor(gateway: string, resource: User): User {
  if (resource.kind === 'listener') return resource;
  const part = resource.kind === 'route' ? routeFor(gateway, resource) : resource;
  const isHere = ({ listener }: { readonly listener: ConfigKey }): boolean => gatewayOfListener(listener) === gateway;
  // Most routes belong to one Gateway. Its source and the evaluation hold the same object then.
  return part.attachments.every(isHere) ? part : { ...part, attachments: fitted(part.attachments.filter(isHere)) };
}

function shareFor(gateway: string, resource: Shared): Shared {
  if (resource.kind === 'sessionKeys') return sessionKeysFor(gateway, resource);
  return resource.kind === 'endpoints' ? endpointsFor(gateway, resource) : resource;
}
