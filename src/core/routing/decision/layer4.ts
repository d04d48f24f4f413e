import { fitted } from '../../text/fitted.ts';
import type { Steps } from '../../text/steps.ts';
import type { ConfigKey, Layer4RouteConfig } from '../config.ts';
import { insertSorted, removeSorted, type Sorted } from '../sorted.ts';
import { hostnamesByListener } from '../table.ts';
import { Versions, type Version } from '../versions.ts';

/** A version of a route in a `Layer4Table`. */
export interface Layer4Version extends Version, Sorted {
  readonly route: Layer4RouteConfig;
}

/** Layer 4 routes by listener and by the server name of a connection. */
export class Layer4Table {
  readonly versions = new Versions<Layer4Version>({
    add: (version) => this.addEntries(version),
    remove: (version) => this.removeEntries(version),
  });
  /** By listener and hostname, the oldest route first. Thousands of routes can have the same hostname. */
  private readonly listeners = new Map<ConfigKey, Map<string, Layer4Version[]>>();

  /** Adds a route, or replaces the one with the same key. */
  upsert(route: Layer4RouteConfig): void {
    this.versions.upsert(versionOf(route));
  }

  /** Adds the entries of a route, which lookups find as soon as it is activated. */
  stage(route: Layer4RouteConfig): Steps<Layer4Version> {
    return this.versions.stage(versionOf(route));
  }

  /** Removes a route. Does nothing if it is not found. */
  remove(key: ConfigKey): void {
    this.versions.remove(key);
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
      const oldest = byHostname.get(hostname)?.find(({ isActive }) => isActive);
      if (oldest !== undefined) return oldest.route;
    }
    return undefined;
  }

  /** All routes of a listener in order of precedence, one candidate per hostname. */
  *candidates(listener: ConfigKey, serverName: string): Iterable<Layer4Candidate> {
    const covering = [...hostnamesOver(serverName)];
    const byHostname = this.listeners.get(listener) ?? new Map<string, Layer4Version[]>();
    const others = [...byHostname.keys()].filter((hostname) => !covering.includes(hostname)).sort();
    for (const hostname of [...covering, ...others]) {
      for (const { route, isActive } of byHostname.get(hostname) ?? [])
        if (isActive) yield { route, hostname, covers: covering.includes(hostname) };
    }
  }

  get isEmpty(): boolean {
    return this.listeners.size === 0 && this.versions.isEmpty;
  }

  private *addEntries(version: Layer4Version): Steps<undefined> {
    for (const [listener, hostnames] of hostnamesByListener(version.route.attachments)) {
      for (const hostname of hostnames) {
        const byHostname = this.listeners.get(listener) ?? new Map<string, Layer4Version[]>();
        this.listeners.set(listener, byHostname);
        const rivals = byHostname.get(hostname) ?? [];
        insertSorted(rivals, version);
        byHostname.set(hostname, compact(rivals));
      }
      yield;
    }
    return undefined;
  }

  private *removeEntries(version: Layer4Version): Steps<undefined> {
    for (const [listener, hostnames] of hostnamesByListener(version.route.attachments)) {
      const byHostname = this.listeners.get(listener);
      for (const hostname of hostnames) {
        const rivals = byHostname?.get(hostname) ?? [];
        removeSorted(rivals, version);
        if (rivals.length === 0) byHostname?.delete(hostname);
        else byHostname?.set(hostname, compact(rivals));
      }
      if (byHostname?.size === 0) this.listeners.delete(listener);
      yield;
    }
    return undefined;
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

/** Most hostnames have one route, so the room that a list gets when it grows would be most of their memory. */
function compact<T>(list: T[]): T[] {
  return list.length < 16 ? fitted(list) : list;
}

function versionOf(route: Layer4RouteConfig): Layer4Version {
  return { key: route.key, isActive: false, route, sortKey: ageKey(route) };
}

/** Sorts the older route first, then by name. No field contains the separator. */
function ageKey({ created, route, routeKind }: Layer4RouteConfig): string {
  return [created, route, routeKind].join('\0');
}

/** The hostnames that cover a server name, the most specific one first. */
function* hostnamesOver(serverName: string): Iterable<string> {
  if (serverName !== '') yield serverName;
  for (let dot = serverName.indexOf('.'); dot > 0; dot = serverName.indexOf('.', dot + 1))
    yield `*${serverName.slice(dot)}`;
  yield '';
}
