import { sortKey } from '../graph/matches/precedence.ts';
import { fitted } from '../text/fitted.ts';
import type { Steps } from '../text/steps.ts';
import { MatchAllowance } from './match-allowance.ts';
import { matchConditionsOf, hostnameCondition } from './match-conditions.ts';
import type { RouteRequest } from './match-conditions.ts';
import type { ConfigKey, MatchedRoute, RouteAttachment, RouteConfig } from './config.ts';
import { Tier } from './tier.ts';
import type { Entry } from './tier.ts';
import { Trie } from './trie.ts';
import { Versions, type Version } from './versions.ts';

export type { RouteRequest } from './match-conditions.ts';

/** An entry as shown by `explain`. */
export interface Candidate {
  readonly candidate: MatchedRoute;
  /** Whether the hostname of the entry covers the host of the request. */
  readonly coversHost: boolean;
  /** All reasons why the request does not match, as text. Empty: the request matches. */
  readonly unmet: readonly string[];
}

/** A version of a route in a `RouteTable`, with its entries. */
export interface RouteVersion extends Version {
  readonly route: RouteConfig;
  placements: readonly Placement[];
}

/**
 * The routes of a data plane, indexed for lookup. The cost of a lookup depends on the host labels and path segments of the
 * request, plus the entries that share the winning hostname and path. The cost of a change depends on the changed route.
 */
export class RouteTable {
  readonly versions = new Versions<RouteVersion>({
    add: (version) => this.addEntries(version),
    remove: (version) => this.removeEntries(version),
  });
  private readonly listeners = new Map<ConfigKey, HostTable>();

  /** Adds a route, or replaces the one with the same key. */
  upsert(route: RouteConfig): void {
    this.versions.upsert(versionOf(route));
  }

  /** Adds the entries of a route, which lookups find as soon as it is activated. */
  stage(route: RouteConfig): Steps<RouteVersion> {
    return this.versions.stage(versionOf(route));
  }

  /** Removes a route. Does nothing if it is not found. */
  remove(key: ConfigKey): void {
    this.versions.remove(key);
  }

  /**
   * The match for a request at a listener: the first matching entry in the order of the sort keys (precedence.ts). Hostnames
   * that cover the request but have no matching entry fall through to broader ones (HTTPRoute `hostnames` and
   * `rules[].matches`, Gateway API v1.7).
   *
   * @throws MatchTooCostly beyond `maxMatchedCharacters` or `maxCheckedConditions`
   */
  match(listener: ConfigKey, request: RouteRequest): MatchedRoute | undefined {
    return this.listeners.get(listener)?.first(request, new MatchAllowance())?.matched;
  }

  /** All entries of a listener in order of precedence, each with the reasons why the request does not match. */
  *candidates(listener: ConfigKey, request: RouteRequest): Iterable<Candidate> {
    const entries: Entry[] = [];
    for (const { placements } of this.versions) {
      for (const placement of placements) if (placement.listener === listener) entries.push(placement.entry);
    }
    entries.sort((left, right) => (left.sortKey < right.sortKey ? -1 : 1));
    for (const entry of entries) yield candidateOf(entry, request);
  }

  get isEmpty(): boolean {
    return this.listeners.size === 0 && this.versions.isEmpty;
  }

  private *addEntries(version: RouteVersion): Steps<undefined> {
    const { route } = version;
    const matches = route.rules.flatMap((rule) =>
      rule.matches.map((match) => ({ rule, match, conditions: matchConditionsOf(match, route.protocol) })),
    );
    const placements: Placement[] = [];
    version.placements = placements;
    for (const [listener, hostnames] of hostnamesByListener(route.attachments)) {
      for (const hostname of hostnames) {
        for (const { rule, match, conditions } of matches) {
          const key = sortKey({ hostname, route, rule: rule.index, match });
          const entry = { sortKey: key, version, hostname, matched: { route, rule, match }, conditions };
          placements.push({ listener, entry });
          this.hostsOf(listener).insert(entry);
        }
        yield;
      }
    }
    version.placements = fitted(placements);
    return undefined;
  }

  private hostsOf(listener: ConfigKey): HostTable {
    const hosts = this.listeners.get(listener) ?? new HostTable();
    this.listeners.set(listener, hosts);
    return hosts;
  }

  private *removeEntries({ placements }: RouteVersion): Steps<undefined> {
    for (const [index, { listener, entry }] of placements.entries()) {
      if (index % entriesInStep === 0) yield;
      const hosts = this.listeners.get(listener);
      hosts?.remove(entry);
      if (hosts?.isEmpty === true) this.listeners.delete(listener);
    }
    return undefined;
  }
}

/** Entries that are removed in one step. */
const entriesInStep = 64;

function versionOf(route: RouteConfig): RouteVersion {
  return { key: route.key, isActive: false, route, placements: [] };
}

/** An entry of a route at one listener. */
interface Placement {
  readonly listener: ConfigKey;
  readonly entry: Entry;
}

/** A route may attach to a listener twice, by the listener's name and through its Gateway. */
export function hostnamesByListener(attachments: readonly RouteAttachment[]): Map<ConfigKey, Set<string>> {
  const byListener = new Map<ConfigKey, Set<string>>();
  for (const { listener, hostnames } of attachments) {
    byListener.set(listener, new Set([...(byListener.get(listener) ?? []), ...hostnames]));
  }
  return byListener;
}

function candidateOf({ matched, hostname, conditions }: Entry, request: RouteRequest): Candidate {
  const ofHost = hostnameCondition(hostname);
  const unlimited = new MatchAllowance(Infinity);
  const unmet = [ofHost, ...conditions]
    .filter((condition) => !condition.holds(request, unlimited))
    .map((condition) => condition.otherwise(request));
  return { candidate: matched, coversHost: ofHost.holds(request, unlimited), unmet };
}

/** The entries of one listener by hostname: one tier per hostname, from the most specific one to none. */
class HostTable {
  private readonly exact = new Map<string, Tier>();
  private readonly wildcards = new Trie<Tier>();
  private readonly any = new Tier();

  insert(entry: Entry): void {
    const { hostname } = entry;
    if (hostname === '') this.any.insert(entry);
    else if (hostname.startsWith('*.')) this.wildcards.ensure(suffixLabels(hostname), () => new Tier()).insert(entry);
    else {
      const tier = this.exact.get(hostname) ?? new Tier();
      this.exact.set(hostname, tier);
      tier.insert(entry);
    }
  }

  remove(entry: Entry): void {
    const { hostname } = entry;
    if (hostname === '') {
      this.any.remove(entry);
    } else if (hostname.startsWith('*.')) {
      const tier = this.wildcards.get(suffixLabels(hostname));
      tier?.remove(entry);
      if (tier?.isEmpty === true) this.wildcards.remove(suffixLabels(hostname));
    } else {
      const tier = this.exact.get(hostname);
      tier?.remove(entry);
      if (tier?.isEmpty === true) this.exact.delete(hostname);
    }
  }

  first(request: RouteRequest, allowance: MatchAllowance): Entry | undefined {
    const exact = this.exact.get(request.host)?.first(request, allowance);
    if (exact !== undefined) return exact;
    const wildcards = this.wildcards.isEmpty ? [] : this.wildcards.along(suffixLabels(request.host));
    for (const tier of wildcards) {
      const found = tier.first(request, allowance);
      if (found !== undefined) return found;
    }
    return this.any.first(request, allowance);
  }

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.wildcards.isEmpty && this.any.isEmpty;
  }
}

/**
 * The labels after the first one, from right to left: for `*.example.com` and every host that it covers (at least one label
 * more than `example.com`), they start with `com`, `example`. A host that starts with a dot has no first label.
 */
function suffixLabels(host: string): string[] {
  return host.startsWith('.') ? [] : host.split('.').slice(1).toReversed();
}
