import type { ConfigKey, Layer4RouteConfig } from '../config.ts';

/** Layer 4 routes by listener and by the server name of a connection. */
export class Layer4Table {
  private readonly listeners = new Map<ConfigKey, Map<string, Layer4RouteConfig[]>>();
  private readonly routes = new Map<ConfigKey, Layer4RouteConfig>();

  /** Adds a route, or replaces the one with the same key. */
  upsert(route: Layer4RouteConfig): void {
    this.remove(route.key);
    this.routes.set(route.key, route);
    for (const { listener, hostname } of attachedHostnamesOf(route)) {
      const byHostname = this.listeners.get(listener) ?? new Map<string, Layer4RouteConfig[]>();
      this.listeners.set(listener, byHostname);
      byHostname.set(hostname, [...(byHostname.get(hostname) ?? []), route].toSorted(byAge));
    }
  }

  /** Removes a route. Does nothing if it is not found. */
  remove(key: ConfigKey): void {
    const route = this.routes.get(key);
    if (route === undefined) return;
    this.routes.delete(key);
    for (const { listener, hostname } of attachedHostnamesOf(route)) {
      const byHostname = this.listeners.get(listener);
      const rest = byHostname?.get(hostname)?.filter((other) => other.key !== key) ?? [];
      if (rest.length > 0) byHostname?.set(hostname, rest);
      else byHostname?.delete(hostname);
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
      const [oldest] = byHostname.get(hostname) ?? [];
      if (oldest !== undefined) return oldest;
    }
    return undefined;
  }

  /** All routes of a listener in order of precedence, one candidate per hostname. */
  *candidates(listener: ConfigKey, serverName: string): Iterable<Layer4Candidate> {
    const covering = [...hostnamesOver(serverName)];
    const byHostname = this.listeners.get(listener) ?? new Map<string, Layer4RouteConfig[]>();
    const others = [...byHostname.keys()].filter((hostname) => !covering.includes(hostname)).sort();
    for (const hostname of [...covering, ...others]) {
      for (const route of byHostname.get(hostname) ?? [])
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

interface AttachedHostname {
  readonly listener: ConfigKey;
  readonly hostname: string;
}

/** A route may attach to a listener twice, by the listener's name and through its Gateway. */
function attachedHostnamesOf({ attachments }: Layer4RouteConfig): readonly AttachedHostname[] {
  const places = new Map<string, AttachedHostname>();
  for (const { listener, hostnames } of attachments) {
    for (const hostname of hostnames) places.set(JSON.stringify([listener, hostname]), { listener, hostname });
  }
  return [...places.values()];
}

/** The hostnames that cover a server name, the most specific one first. */
function* hostnamesOver(serverName: string): Iterable<string> {
  if (serverName !== '') yield serverName;
  for (let dot = serverName.indexOf('.'); dot > 0; dot = serverName.indexOf('.', dot + 1))
    yield `*${serverName.slice(dot)}`;
  yield '';
}

function byAge(left: Layer4RouteConfig, right: Layer4RouteConfig): number {
  return (
    compare(left.created, right.created) || compare(left.route, right.route) || compare(left.routeKind, right.routeKind)
  );
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
