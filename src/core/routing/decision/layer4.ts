import type { ConfigKey, Layer4RouteConfig } from '../config.ts';

/** Layer 4 routes by listener and by the server name of a connection. */
export class Layer4Table {
  private readonly listeners = new Map<ConfigKey, Map<string, Rivals>>();
  private readonly routes = new Map<ConfigKey, Layer4RouteConfig>();

  /** Adds a route, or replaces the one with the same key. */
  upsert(route: Layer4RouteConfig): void {
    this.remove(route.key);
    this.routes.set(route.key, route);
    // A route may attach to a listener twice, by the listener's name and through its Gateway.
    for (const { listener, hostnames } of route.attachments) {
      const byHostname = this.listeners.get(listener) ?? new Map<string, Rivals>();
      for (const hostname of hostnames) {
        const rivals = byHostname.get(hostname);
        if (rivals === undefined) byHostname.set(hostname, new Rivals(route));
        else rivals.add(route);
      }
      if (byHostname.size > 0) this.listeners.set(listener, byHostname);
    }
  }

  /** Removes a route. Does nothing if it is not found. */
  remove(key: ConfigKey): void {
    const route = this.routes.get(key);
    if (route === undefined) return;
    this.routes.delete(key);
    for (const { listener, hostnames } of route.attachments) {
      const byHostname = this.listeners.get(listener);
      for (const hostname of hostnames) {
        const rivals = byHostname?.get(hostname);
        rivals?.remove(route);
        if (rivals?.isEmpty === true) byHostname?.delete(hostname);
      }
      if (byHostname?.size === 0) this.listeners.delete(listener);
    }
  }

  /**
   * The route for a connection or flow. Precedence: the exact hostname, the longest wildcard, a route without hostnames
   * (TLSRoute `hostnames`, Gateway API v1.7). Among routes with the same hostname, the oldest wins, then the first by
   * `namespace/name`.
   *
   * @param serverName the server name of the TLS handshake in lower case; `''` if absent, and for TCP and UDP
   */
  routeFor(listener: ConfigKey, serverName: string): Layer4RouteConfig | undefined {
    const byHostname = this.listeners.get(listener);
    if (byHostname === undefined) return undefined;
    for (const hostname of hostnamesOver(serverName)) {
      const oldest = byHostname.get(hostname)?.oldest;
      if (oldest !== undefined) return oldest;
    }
    return undefined;
  }

  /** All routes of a listener in order of precedence, one candidate per hostname. */
  *candidates(listener: ConfigKey, serverName: string): Iterable<Layer4Candidate> {
    const covering = [...hostnamesOver(serverName)];
    const byHostname = this.listeners.get(listener) ?? new Map<string, Rivals>();
    const others = [...byHostname.keys()].filter((hostname) => !covering.includes(hostname)).sort();
    for (const hostname of [...covering, ...others]) {
      for (const route of byHostname.get(hostname)?.byAge() ?? [])
        yield { route, hostname, covers: covering.includes(hostname) };
    }
  }

  get isEmpty(): boolean {
    return this.routes.size === 0 && this.listeners.size === 0;
  }
}

/** A route with one of its hostnames, as shown by `explain`. */
export interface Layer4Candidate {
  readonly route: Layer4RouteConfig;
  /** `''`: any. */
  readonly hostname: string;
  /** Whether the hostname covers the server name. */
  readonly covers: boolean;
}

/** The routes with the same hostname at a listener. They can be thousands, and change together, but only the oldest one is used. */
class Rivals {
  /** Undefined until it is needed. */
  private first: Layer4RouteConfig | undefined;
  /** Undefined if `first` is the only one, as at most hostnames. */
  private routes: Map<ConfigKey, Layer4RouteConfig> | undefined;

  constructor(route: Layer4RouteConfig) {
    this.first = route;
  }

  add(route: Layer4RouteConfig): void {
    const { first } = this;
    this.routes ??= new Map(first === undefined ? [] : [[first.key, first]]);
    this.routes.set(route.key, route);
    if (first !== undefined && compareAge(route, first) < 0) this.first = route;
  }

  remove({ key }: Layer4RouteConfig): void {
    if (this.first?.key === key) this.first = undefined;
    this.routes?.delete(key);
  }

  get isEmpty(): boolean {
    return this.first === undefined && (this.routes?.size ?? 0) === 0;
  }

  get oldest(): Layer4RouteConfig | undefined {
    if (this.first === undefined)
      for (const route of this.routes?.values() ?? [])
        if (this.first === undefined || compareAge(route, this.first) < 0) this.first = route;
    return this.first;
  }

  /** All of them, the oldest one first. */
  byAge(): readonly Layer4RouteConfig[] {
    const { routes, first } = this;
    return [...(routes?.values() ?? (first === undefined ? [] : [first]))].sort(compareAge);
  }
}

/** The hostnames that cover a server name, the most specific one first. */
function* hostnamesOver(serverName: string): Iterable<string> {
  if (serverName !== '') yield serverName;
  for (let dot = serverName.indexOf('.'); dot > 0; dot = serverName.indexOf('.', dot + 1))
    yield `*${serverName.slice(dot)}`;
  yield '';
}

function compareAge(left: Layer4RouteConfig, right: Layer4RouteConfig): number {
  return (
    compare(left.created, right.created) || compare(left.route, right.route) || compare(left.routeKind, right.routeKind)
  );
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
