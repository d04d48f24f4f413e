import type { EmissionChange } from '../core/incremental/index.ts';
import type { ConfigKey, ConfigResource, EndpointsConfig, RouteConfig } from '../core/routing/config.ts';

/** What of a change concerns one Gateway. */
export interface GatewayChange {
  readonly upserts: Map<ConfigKey, ConfigResource>;
  readonly removals: Set<ConfigKey>;
}

interface PlacedRoute {
  readonly route: RouteConfig;
  readonly gateways: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<ConfigKey>;
}

/**
 * Splits the configuration of all data planes by Gateway, change by change: a Gateway gets its listeners, the routes
 * that are attached to them, without their attachments elsewhere, and the endpoints that those routes use.
 * A change costs as much as what it touches.
 */
export class PerGateway {
  readonly #routes = new Map<ConfigKey, PlacedRoute>();
  readonly #endpoints = new Map<ConfigKey, EndpointsConfig>();
  /** Endpoints → Gateway → routes of that Gateway that use them. */
  readonly #users = new Map<ConfigKey, Map<string, Set<ConfigKey>>>();

  /** @returns the changes by `namespace/name` of the Gateway; only of those that are concerned */
  take({ upserted, removed }: EmissionChange<ConfigResource>): ReadonlyMap<string, GatewayChange> {
    const changes = new Changes();
    for (const resource of upserted.values()) if (resource.kind === 'endpoints') this.#setEndpoints(resource, changes);
    for (const resource of upserted.values()) {
      if (resource.kind === 'listener') changes.upsert(resource.gateway, resource);
      else if (resource.kind === 'route') this.#setRoute(resource, changes);
    }
    for (const key of removed) this.#remove(key, changes);
    return changes.byGateway;
  }

  #setEndpoints(resource: EndpointsConfig, changes: Changes): void {
    this.#endpoints.set(resource.key, resource);
    for (const gateway of this.#users.get(resource.key)?.keys() ?? []) changes.upsert(gateway, resource);
  }

  #setRoute(route: RouteConfig, changes: Changes): void {
    const before = this.#routes.get(route.key);
    const placed = { route, gateways: new Set(route.attachments.map(({ listener }) => gatewayOf(listener))), endpoints: endpointsOf(route) };
    this.#routes.set(route.key, placed);
    for (const gateway of placed.gateways) {
      changes.upsert(gateway, { ...route, attachments: route.attachments.filter(({ listener }) => gatewayOf(listener) === gateway) });
      for (const key of placed.endpoints) this.#use(key, gateway, route.key, changes);
    }
    if (before !== undefined) this.#release(before, placed, changes);
  }

  #remove(key: ConfigKey, changes: Changes): void {
    const route = this.#routes.get(key);
    if (route !== undefined) {
      this.#routes.delete(key);
      this.#release(route, { ...route, gateways: new Set(), endpoints: new Set() }, changes);
    } else if (this.#endpoints.delete(key)) {
      for (const gateway of this.#users.get(key)?.keys() ?? []) changes.remove(gateway, key);
    } else changes.remove(gatewayOf(key), key);
  }

  #use(key: ConfigKey, gateway: string, route: ConfigKey, changes: Changes): void {
    const users = this.#users.get(key) ?? new Map<string, Set<ConfigKey>>();
    this.#users.set(key, users);
    const routes = users.get(gateway);
    if (routes !== undefined) {
      routes.add(route);
      return;
    }
    users.set(gateway, new Set([route]));
    const known = this.#endpoints.get(key);
    if (known !== undefined) changes.upsert(gateway, known);
  }

  /** Takes back what `before` had and `now` has no more. */
  #release(before: PlacedRoute, now: PlacedRoute, changes: Changes): void {
    for (const gateway of before.gateways) {
      const stays = now.gateways.has(gateway);
      if (!stays) changes.remove(gateway, before.route.key);
      for (const key of before.endpoints) if (!stays || !now.endpoints.has(key)) this.#unuse(key, gateway, { route: before.route.key, changes });
    }
  }

  #unuse(key: ConfigKey, gateway: string, { route, changes }: { readonly route: ConfigKey; readonly changes: Changes }): void {
    const users = this.#users.get(key);
    const routes = users?.get(gateway);
    if (users === undefined || routes === undefined) return;
    routes.delete(route);
    if (routes.size > 0) return;
    users.delete(gateway);
    if (users.size === 0) this.#users.delete(key);
    changes.remove(gateway, key);
  }
}

class Changes {
  readonly byGateway = new Map<string, GatewayChange>();

  upsert(gateway: string, resource: ConfigResource): void {
    const { upserts, removals } = this.#of(gateway);
    removals.delete(resource.key);
    upserts.set(resource.key, resource);
  }

  remove(gateway: string, key: ConfigKey): void {
    const { upserts, removals } = this.#of(gateway);
    upserts.delete(key);
    removals.add(key);
  }

  #of(gateway: string): GatewayChange {
    const known = this.byGateway.get(gateway);
    if (known !== undefined) return known;
    const change = { upserts: new Map<ConfigKey, ConfigResource>(), removals: new Set<ConfigKey>() };
    this.byGateway.set(gateway, change);
    return change;
  }
}

/** `namespace/name` of the Gateway that a listener's key names. */
function gatewayOf(listener: ConfigKey): string {
  return listener.split('/').slice(1, 3).join('/');
}

function endpointsOf(route: RouteConfig): ReadonlySet<ConfigKey> {
  return new Set(route.rules.flatMap((rule) => rule.backends.flatMap(({ target }) => (target.type === 'endpoints' ? [target.key] : []))));
}
