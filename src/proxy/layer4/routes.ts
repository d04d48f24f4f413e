import type { BackendTarget, ConfigKey, Layer4RouteConfig } from '../../core/routing/config.ts';
import { decideBackend } from '../../core/routing/decision/decide.ts';
import { Layer4Table, type Layer4Version } from '../../core/routing/decision/layer4.ts';
import type { Steps } from '../../core/text/steps.ts';
import { Balancer } from '../upstream/balancer.ts';
import type { EndpointRegistry, EndpointSet } from '../upstream/endpoints.ts';
import type { Layer4Reason } from './reasons.ts';

/** The backend of a connection or flow. */
export interface Destination {
  /** The key of the endpoints. */
  readonly backend: ConfigKey;
  readonly endpoints: EndpointSet;
}

/** The route of a connection or flow, and the next backend of that route or the reason why there is none. */
export interface Choice {
  readonly route: Layer4RouteConfig | undefined;
  readonly destination: Destination | Layer4Reason;
}

/** The active routes of layer 4 and the load balancing among their backends. */
export class Layer4Routes {
  private readonly table = new Layer4Table();
  private readonly balancers = new Map<ConfigKey, Balancer<BackendTarget>>();

  /** Adds the entries of a route, which lookups find as soon as it is activated. */
  stage(route: Layer4RouteConfig): Steps<Layer4Version> {
    return this.table.stage(route);
  }

  /** Adds or replaces a route. Shares continue from their previous state unless weights have changed. */
  activate(version: Layer4Version): void {
    const { key, backends } = version.route;
    const weighed = backends.map(({ weight, target }) => ({ weight, value: target }));
    this.balancers.set(key, new Balancer(weighed, this.balancers.get(key)));
    this.table.versions.activate(version);
  }

  /** A staged route will not be activated. */
  discard(version: Layer4Version): void {
    this.table.versions.discard(version);
  }

  /** Removes a route. Has no effect if it is not found. */
  remove(key: ConfigKey): void {
    this.balancers.delete(key);
    this.table.versions.deactivate(key);
  }

  /** Releases what routes leave that were removed, replaced or discarded. */
  sweep(): Steps<undefined> {
    return this.table.versions.sweep();
  }

  /** Selects the route and backend of a new connection or flow of a listener; `serverName` is `''` if the client sends none. */
  choose(listener: ConfigKey, serverName: string, registry: EndpointRegistry): Choice {
    const route = this.table.routeFor(listener, serverName);
    return { route, destination: route === undefined ? 'no-route' : this.next(route, registry) };
  }

  private next(route: Layer4RouteConfig, registry: EndpointRegistry): Destination | Layer4Reason {
    if (route.failure !== undefined) return 'rule-failure';
    const target = this.balancers.get(route.key)?.next();
    const backend = target?.type === 'endpoints' ? target.key : undefined;
    const endpoints = decideBackend(target && { endpoints: backend }, (key) => registry.get(key));
    if (typeof endpoints === 'string') return endpoints;
    return backend === undefined ? 'invalid-backend' : { backend, endpoints };
  }
}
