import { attachments, type Attachment } from '../../graph/attachment.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { ofSortKey, requestsOf, routeIdentity, sortKey, type OwnedMatch } from '../../graph/matches/precedence.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import { strata } from '../../graph/strata.ts';
import { defineIndex, defineQuery, type Reader } from '../../incremental/index.ts';
import { keyOf } from '../../incremental/key.ts';
import type { ParentNode } from '../../semantics/parent-reference.ts';
import { isWideHostname } from '../../text/hostname.ts';
import { listenerKey, partProblems } from '../engine/validity.ts';
import type { PartProblem } from '../engine/part-problem.ts';
import { comparisonSize, furtherUnits } from './comparison-weight.ts';
import { servedMatches } from './served-matches.ts';
import { qualifiedName } from '../../resources/reference.ts';

/**
 * The routes of one kind that have a hostname at a listener. Most routes have their own hostnames, so their matches need no
 * comparison. Bucket: key of a `HostPlace`; entry: `namespace/name`. Further buckets: `namespacesAt` a key, with namespaces,
 * `wideHostnamesAt` a listener, with hostnames that cover others, and those that tell how much a comparison would take: `routesAt` a
 * listener and `heavyRoutesAt` a key. Routes with many entries in the comparison count there several times.
 */
export const routesOfHostname = defineIndex({
  name: 'routesOfHostname',
  stratum: strata.linkIndexes,
  over: objectsOf(...servedRouteKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const entry = qualifiedName({ namespace, name });
    const route = readObject(read, kind as ServedRouteKind, namespace, name);
    const places = hostPlaces(read, kind, namespace, name);
    if (route === undefined || places.length === 0) return;
    const size = comparisonSize(route);
    for (const [bucket, { length }] of Map.groupBy(places, (place) => routesAt(place, kind))) {
      yield { bucket, entry };
      for (const unit of furtherUnits(entry, size.wider * length)) yield { bucket, entry: unit };
    }
    for (const { key, owner, listener, hostname } of places) {
      yield { bucket: key, entry };
      for (const unit of furtherUnits(entry, size.same)) yield { bucket: heavyRoutesAt(key), entry: unit };
      yield { bucket: namespacesAt(key), entry: namespace };
      if (isWideHostname(hostname)) yield { bucket: wideHostnamesAt(owner, listener, kind), entry: hostname };
    }
  },
});

/** Returns the bucket of `routesOfHostname` with the namespaces of the routes at a key. */
export function namespacesAt(key: string): string {
  return `namespaces ${key}`;
}

/** Returns the bucket of `routesOfHostname` with the hostnames of routes at a listener that stand for several hosts. */
export function wideHostnamesAt(owner: ParentNode, listener: string, kind: string): string {
  return `wide ${keyOf([listenerKey(owner, listener), kind])}`;
}

/** Returns the bucket of `routesOfHostname` with the routes of one kind at a listener, by their weight. */
function routesAt({ owner, listener }: HostPlace, kind: string): string {
  return `routes ${keyOf([listenerKey(owner, listener), kind])}`;
}

/** Returns the bucket of `routesOfHostname` with the routes at a key, by what they weigh in addition. */
function heavyRoutesAt(key: string): string {
  return `heavy ${key}`;
}

/**
 * Returns whether routes of several namespaces have the hostname of a place. False if it has very many routes or matches: one route of
 * another namespace would affect all of them.
 */
export function isContested(read: Reader, { key }: HostPlace): boolean {
  return (
    read.several(routesOfHostname, key) &&
    !read.many(routesOfHostname, key) &&
    !read.many(routesOfHostname, heavyRoutesAt(key)) &&
    read.several(routesOfHostname, namespacesAt(key))
  );
}

/** Returns whether routes of a listener are compared with those of wider hostnames: one of these affects all others. */
export function comparesHostnames(read: Reader, place: HostPlace, kind: string): boolean {
  return !read.many(routesOfHostname, routesAt(place, kind));
}

/** Returns the key of a hostname of routes of one kind at a listener. */
export function hostKey(owner: ParentNode, listener: string, kind: string, hostname: string): string {
  // Rules of HTTPRoutes and GRPCRoutes never compete for a request, because gRPC requests are first matched against GRPCRoutes.
  return keyOf([listenerKey(owner, listener), kind, hostname]);
}

/** A hostname of a route at a listener that one of its parentRefs attaches to. */
export interface HostPlace {
  readonly key: string;
  /** Position in spec.parentRefs. */
  readonly parent: number;
  readonly owner: ParentNode;
  readonly listener: string;
  /** The hostname of the route; `''`: any host. */
  readonly hostname: string;
}

/**
 * The maximum number of hostnames at listeners where one route is compared with others, 1 KiB each: all of a route with one hostname, or
 * 16 hostnames at eight listeners.
 */
const maxHostPlaces = 128;

/**
 * The maximum number of matches at hostnames and listeners where one route is compared with others, 1 KiB each: those of a route with 128
 * matches at four of them.
 */
const maxMatchPlaces = 512;

/** Returns the hostnames of a route at the listeners that it attaches to, up to the maximum. */
export function hostPlaces(read: Reader, kind: string, namespace: string, name: string): readonly HostPlace[] {
  return allHostPlaces(read.query(attachments, kind, namespace, name), kind)
    .take(maxHostPlaces)
    .toArray();
}

function* allHostPlaces(attached: readonly Attachment[], kind: string): Generator<HostPlace> {
  for (const { index: parent, parent: owner, outcome } of attached) {
    if (outcome.type !== 'attached') continue;
    for (const { name: listener, hostnames } of outcome.listeners)
      for (const hostname of hostnames)
        yield { key: hostKey(owner, listener, kind, hostname), parent, owner, listener, hostname };
  }
}

/** A match of a route at a location where other routes may have an equal match. */
interface MatchPlace extends Omit<HostPlace, 'key'> {
  /** Equal for all matches of the same requests at that location. */
  readonly bucket: string;
  /** The sort key of the match. The first match in a bucket gets the requests. */
  readonly entry: string;
  readonly own: OwnedMatch;
}

const nowhere: readonly MatchPlace[] = [];

/** The locations where matches of a route compete with those of other routes, up to the maximum. */
const matchPlaces = defineQuery({
  name: 'matchPlaces',
  stratum: strata.validity,
  compute(read, kind: string, namespace: string, name: string): readonly MatchPlace[] {
    const shared = hostPlaces(read, kind, namespace, name).filter(({ key }) => read.several(routesOfHostname, key));
    const resource = shared.length === 0 ? undefined : readObject(read, kind as ServedRouteKind, namespace, name);
    if (resource === undefined) return nowhere;
    const problems = read.query(partProblems, kind, namespace, name);
    if (isUnservable(problems)) return nowhere;
    const route = routeIdentity(resource);
    const matches = servedMatches(resource, problems).flatMap((ofRule, rule) =>
      ofRule.map((match) => ({
        rule,
        match,
        requests: requestsOf(match),
        own: { kind, namespace, name, rule, match: match.index },
      })),
    );
    // A match has the same sort key at each listener. Computed on demand: most hostnames of a large route are beyond the maximum.
    const sorted = new Map<string, ReturnType<typeof sortedAt>>();
    const sortedAt = (hostname: string) =>
      matches.map(({ rule, match, ...rest }) => ({ ...rest, entry: sortKey({ hostname, route, rule, match }) }));
    return shared
      .values()
      .flatMap(({ key, ...place }) => {
        const entries = sorted.get(place.hostname) ?? sortedAt(place.hostname);
        sorted.set(place.hostname, entries);
        return entries
          .values()
          .map(({ requests, own, entry }): MatchPlace => ({ ...place, bucket: `${key} ${requests}`, entry, own }));
      })
      .take(maxMatchPlaces)
      .toArray();
  },
});

/** Returns whether a route with these problems is left out of the configuration of all parents. */
export function isUnservable(problems: readonly PartProblem[]): boolean {
  return problems.some(({ scope, condition }) => scope === 'object' && condition === 'Accepted');
}

/** The matches that several routes may have, grouped by the requests that they match: bucket and entry of a `MatchPlace`. */
export const matchesOfListener = defineIndex({
  name: 'matchesOfListener',
  stratum: strata.rivalIndexes,
  over: objectsOf(...servedRouteKinds),
  entries: (read, kind = '', namespace = '', name = '') => read.query(matchPlaces, kind, namespace, name),
});

/** A match that gets no requests at a listener, because an equal match of another route gets all of them. */
export interface TakenMatch extends Omit<MatchPlace, 'entry'> {
  readonly winner: OwnedMatch;
}

const none: readonly TakenMatch[] = [];

/** The matches of a route that are shadowed by equal matches of other routes, in the order of parentRefs. */
export const takenMatches = defineQuery({
  name: 'takenMatches',
  stratum: strata.findings,
  compute(read, kind: string, namespace: string, name: string): readonly TakenMatch[] {
    const taken: TakenMatch[] = [];
    // A match has the same sort key at each listener.
    const winners = new Map<string, OwnedMatch>();
    for (const { entry, ...place } of read.query(matchPlaces, kind, namespace, name)) {
      const first = read.first(matchesOfListener, place.bucket) ?? entry;
      if (first === entry) continue;
      const winner = winners.get(first) ?? ofSortKey(first);
      winners.set(first, winner);
      // Equal matches within a route are reported by match-repeated, regardless of the controller.
      const isOwn = winner.namespace === namespace && winner.name === name;
      if (!isOwn) taken.push({ ...place, winner });
    }
    return taken.length === 0 ? none : taken;
  },
});
