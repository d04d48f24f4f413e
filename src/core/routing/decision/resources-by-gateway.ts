import {
  endpointsFor,
  type ConfigKey,
  type ConfigResource,
  type EndpointsConfig,
  type ListenerConfig,
  type RouteConfig,
} from '../config.ts';
import type { DecidedEndpoints } from './decide.ts';

/** Endpoints as a Gateway uses them, by key. */
export type EndpointsOfGateway = (key: ConfigKey) => (EndpointsConfig & DecidedEndpoints) | undefined;

/** The resources of many Gateways, indexed so that the cost of one Gateway does not depend on the others. */
export class ResourcesByGateway {
  private readonly listeners = new Map<string, ListenerConfig[]>();
  private readonly routes = new Map<ConfigKey, RouteConfig[]>();
  private readonly endpoints = new Map<ConfigKey, EndpointsConfig>();

  constructor(resources: Iterable<ConfigResource>) {
    for (const resource of resources) {
      if (resource.kind === 'listener') append(this.listeners, resource.gateway, resource);
      else if (resource.kind === 'endpoints') this.endpoints.set(resource.key, resource);
      else if (resource.kind === 'route')
        for (const key of new Set(resource.attachments.map(({ listener }) => listener)))
          append(this.routes, key, resource);
    }
  }

  /** `namespace/name` of each Gateway with a listener, in order. */
  gateways(): readonly string[] {
    return [...this.listeners.keys()].sort();
  }

  listenersOf(gateway: string): readonly ListenerConfig[] {
    return this.listeners.get(gateway) ?? [];
  }

  /** Routes at some of these listeners, each once. */
  routesAt(listeners: ReadonlySet<ConfigKey>): ReadonlySet<RouteConfig> {
    return new Set([...listeners].flatMap((key) => this.routes.get(key) ?? []));
  }

  endpointsOf(gateway: string): EndpointsOfGateway {
    return (key) => {
      const found = this.endpoints.get(key);
      return found && decided(endpointsFor(gateway, found));
    };
  }
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Adds the properties of endpoints that decisions use. */
function decided(endpoints: EndpointsConfig): EndpointsConfig & DecidedEndpoints {
  const isEmpty = endpoints.addresses.length === 0 && endpoints.external === undefined;
  return { ...endpoints, failure: endpoints.failure, isEmpty } as EndpointsConfig & DecidedEndpoints;
}
