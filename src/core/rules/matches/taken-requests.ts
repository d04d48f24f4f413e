import { addressedListeners } from '../../graph/listeners/addressed-listeners.ts';
import { hasHostnamePolicies } from '../../graph/matches/hostname-policies.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { isOwnerKind, servingGateway } from '../../graph/listeners/listener-sets.ts';
import { ownedPlace, PathComparison, type OwnedPlace, type PathOwner } from '../../graph/matches/path-comparison.ts';
import { withoutTrailingSlash, type OwnedMatch } from '../../graph/matches/precedence.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import type { RouteMatch } from '../../graph/matches/route-match.ts';
import { strata } from '../../graph/strata.ts';
import { defineIndex, defineQuery, type IndexEntry, type Reader } from '../../incremental/index.ts';
import { qualifiedName } from '../../resources/reference.ts';
import { intersectHostnames, isNarrowerHostname, isWideHostname, widerHostnames } from '../../text/hostname.ts';
import { partProblems } from '../engine/validity.ts';
import {
  comparesHostnames,
  hostKey,
  hostPlaces,
  isContested,
  isUnservable,
  namespacesAt,
  routesOfHostname,
  wideHostnamesAt,
  type HostPlace,
} from './match-places.ts';
import { maxEntries } from './comparison-weight.ts';
import { servedMatches } from './served-matches.ts';

// Matches that get only some requests of a match in another namespace, because their hostname, path or conditions are more
// specific. Both sides compute keys of the places where they can meet: the winner writes them to an index, the other one reads.
// The comparison is certain: regular expressions, and two matches with different conditions, are only compared with matches of
// every path, or without conditions. Places with routes of one namespace cost nothing.

/** The part of a path that others are compared with: prefixes are without the final slash, `''` is the prefix of every path. */
interface PathKey {
  readonly own: string;
  /** The prefixes that contain all of its paths, other than itself. */
  readonly wider: readonly string[];
}

/** Deeper prefixes are not compared. */
const maxSegments = 16;

function pathKey({ type, value }: RouteMatch['path']): PathKey {
  if (type === 'RegularExpression') return { own: JSON.stringify([type, value]), wider: [''] };
  const path = type === 'PathPrefix' ? withoutTrailingSlash(value) : value;
  const segments = path.split('/').slice(1, maxSegments + 1);
  const prefixes = [0, ...segments.keys().map((index) => index + 1)].map((count) =>
    segments
      .slice(0, count)
      .map((segment) => `/${segment}`)
      .join(''),
  );
  return {
    own: type === 'PathPrefix' ? prefixKey(path) : JSON.stringify([type, path]),
    wider: prefixes.filter((prefix) => type === 'Exact' || prefix !== path),
  };
}

function prefixKey(prefix: string): string {
  return JSON.stringify(['PathPrefix', prefix]);
}

/** The conditions other than the path, equal for equal conditions in any order; `''`: none. */
function conditionsOf({ method, headers, query }: RouteMatch): string {
  if (method === undefined && headers.length === 0 && query.length === 0) return '';
  const sorted = (list: RouteMatch['headers']) =>
    list.map(({ name, type, value }) => JSON.stringify([name, type, value])).sort();
  return JSON.stringify([method ?? '', sorted(headers), sorted(query)]);
}

/** Written by every match. The others are conditions. */
const anyConditions = 'any';

/** A match that gets requests of another one. */
export interface Winner extends OwnedMatch {
  /** The hostname of its route; `''`: any host. */
  readonly hostname: string;
  readonly path: RouteMatch['path'];
  readonly hasConditions: boolean;
}

/**
 * Matches that get requests of others. Bucket: key of a match that may lose requests to them. An entry begins with the namespace, so
 * the first or the last one is of another namespace, if there is one.
 */
export const winnersOfRequests = defineIndex({
  name: 'winnersOfRequests',
  stratum: strata.rivalIndexes,
  over: objectsOf(...servedRouteKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    let left = maxEntries;
    for (const entry of winnersEntries(read, { kind, namespace, name })) {
      if (left-- === 0) return;
      yield entry;
    }
  },
});

interface RouteRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

function* winnersEntries(read: Reader, { kind, namespace, name }: RouteRef): Iterable<IndexEntry> {
  let left = maxWider;
  const contested = hostPlaces(read, kind, namespace, name).flatMap((place) => {
    const isShared = isContested(read, place);
    const compared = comparedHostnames(read, kind, place).slice(0, left);
    left -= compared.length;
    const wider = widerAmong(read, { kind, namespace }, place, compared);
    return isShared || wider.length > 0 ? [{ place, isShared, wider }] : [];
  });
  if (contested.length === 0) return;
  const matches = comparedMatches(read, { kind, namespace, name });
  const comparison = new PathComparison();
  for (const { place, isShared, wider } of contested) {
    const owned = ownedPlaceAt(read, namespace, place);
    for (const { rule, match, path, conditions } of matches) {
      const owner = owned && comparison.ownerOf(owned.place, match.path);
      // A path that a policy gives to the namespace is not taken from others, nor is a hostname from routes with a wider one.
      if (owner !== undefined && owner.path !== '') continue;
      const losing = owner === undefined ? wider : wider.filter((hostname) => !isGiven(owner, owned, hostname));
      const winner: Winner = {
        kind,
        namespace,
        name,
        rule,
        match: match.index,
        hostname: place.hostname,
        path: match.path,
        hasConditions: conditions !== '',
      };
      const classes = [anyConditions, conditions];
      const keys = [
        ...(isShared ? sameHostKeys(place.key, path, classes) : []),
        ...losing.flatMap((hostname) =>
          widerHostKeys(hostKey(place.owner, place.listener, kind, hostname), path, classes),
        ),
      ];
      // One text for all keys: a route has thousands of them.
      const entry = JSON.stringify([namespace, winner]);
      for (const bucket of keys) yield { bucket, entry };
    }
  }
}

interface ListenerPlace {
  readonly place: OwnedPlace;
  /** The hostname of the listener; `''`: any host. */
  readonly listenerHostname: string;
}

/** Returns the owners of a hostname of a route and of its paths; `undefined` if there are no policies. */
function ownedPlaceAt(
  read: Reader,
  namespace: string,
  { owner: { kind, ...owner }, listener, hostname }: HostPlace,
): ListenerPlace | undefined {
  if (!read.query(hasHostnamePolicies) || !isOwnerKind(kind)) return undefined;
  const gateway = servingGateway(read, { ...owner, kind });
  if (gateway === undefined) return undefined;
  const listeners = read.query(addressedListeners, kind, owner.namespace, owner.name, '');
  const listenerHostname = listeners.find(({ name }) => name === listener)?.hostname ?? '';
  const served = intersectHostnames(listenerHostname, hostname) ?? hostname;
  return { place: ownedPlace(read, served, qualifiedName(gateway), namespace), listenerHostname };
}

/** Returns whether the hostname of a policy is narrower than another one at the listener. */
function isGiven({ owned }: PathOwner, place: ListenerPlace | undefined, hostname: string): boolean {
  return isNarrowerHostname(owned, intersectHostnames(place?.listenerHostname ?? '', hostname) ?? hostname);
}

/**
 * The maximum number of wider hostnames that are looked up for all places of a route, about 0.5 KiB each: all of those of 128 ordinary
 * hostnames. A hostname of a hundred labels has as many wider ones.
 */
const maxWider = 512;

/** Returns the wider hostnames with which the hostname of a place is compared. */
function comparedHostnames(read: Reader, kind: string, place: HostPlace): readonly string[] {
  const { owner, listener, hostname } = place;
  if (hostname === '' || !comparesHostnames(read, place, kind)) return [];
  if (read.first(routesOfHostname, wideHostnamesAt(owner, listener, kind)) === undefined) return [];
  return widerHostnames(hostname);
}

/** Returns those of some hostnames at the listener of a place at which another namespace has a route. */
function widerAmong(
  read: Reader,
  { kind, namespace }: Omit<RouteRef, 'name'>,
  { owner, listener }: HostPlace,
  hostnames: readonly string[],
): readonly string[] {
  return hostnames.filter((hostname) => {
    const key = hostKey(owner, listener, kind, hostname);
    const first = read.first(routesOfHostname, namespacesAt(key));
    return first !== undefined && (first !== namespace || read.several(routesOfHostname, namespacesAt(key)));
  });
}

interface ComparedMatch {
  readonly rule: number;
  readonly match: RouteMatch;
  readonly path: PathKey;
  readonly conditions: string;
}

function comparedMatches(read: Reader, { kind, namespace, name }: RouteRef): readonly ComparedMatch[] {
  const route = readObject(read, kind as ServedRouteKind, namespace, name);
  const problems = read.query(partProblems, kind, namespace, name);
  if (route === undefined || isUnservable(problems)) return [];
  return servedMatches(route, problems).flatMap((ofRule, rule) =>
    ofRule.map((match) => ({ rule, match, path: pathKey(match.path), conditions: conditionsOf(match) })),
  );
}

/** With the same hostname, a narrower path takes precedence, and conditions do for the same path. */
function sameHostKeys(host: string, { own, wider }: PathKey, [any = '', conditions = '']: readonly string[]) {
  const narrower = wider.flatMap((prefix) => [any, conditions].map((one) => keyAt(host, prefixKey(prefix), one)));
  return conditions === '' ? narrower : [...narrower, keyAt(host, own, any)];
}

/** A narrower hostname takes precedence whatever the path is. */
function widerHostKeys(host: string, { own, wider }: PathKey, classes: readonly string[]): readonly string[] {
  const paths = [own, ...wider.map(prefixKey)];
  return classes.flatMap((one) => [...paths.map((path) => keyAt(host, path, one)), coveringKey(host, own, one)]);
}

function keyAt(host: string, path: string, conditions: string): string {
  return `${host} ${path} ${conditions}`;
}

/** The key of a match of a narrower hostname, for matches whose paths it contains. */
function coveringKey(host: string, path: string, conditions: string): string {
  return `${host} below ${path} ${conditions}`;
}

/** A match that loses some requests at a listener to a match in another namespace. */
export interface TakenRequests extends Omit<HostPlace, 'key'> {
  readonly own: OwnedMatch;
  readonly winner: Winner;
  /** Why the winner takes precedence. */
  readonly by: 'hostname' | 'path' | 'conditions';
  /** Whether the path of the winner is narrower, so that only requests for it are lost. */
  readonly isNarrower: boolean;
}

const none: readonly TakenRequests[] = [];

/** The matches of a route that lose some of their requests to other namespaces, in the order of parentRefs: one winner for each. */
export const takenRequests = defineQuery({
  name: 'takenRequests',
  stratum: strata.findings,
  compute(read, kind: string, namespace: string, name: string): readonly TakenRequests[] {
    const contested = hostPlaces(read, kind, namespace, name).filter(
      (place) => (isWideHostname(place.hostname) && comparesHostnames(read, place, kind)) || isContested(read, place),
    );
    if (contested.length === 0) return none;
    const matches = comparedMatches(read, { kind, namespace, name });
    const taken: TakenRequests[] = [];
    let left = maxEntries;
    for (const { key, ...place } of contested) {
      for (const { rule, match, path, conditions } of matches) {
        const keys = losingKeys(key, place.hostname, path, conditions);
        left -= keys.length;
        if (left < 0) return taken;
        const winner = winnerAmong(read, namespace, keys);
        if (winner === undefined) continue;
        const isNarrower = !contains(winner.path, path);
        const by = winner.hostname !== place.hostname ? 'hostname' : isNarrower ? 'path' : 'conditions';
        taken.push({ ...place, own: { kind, namespace, name, rule, match: match.index }, winner, by, isNarrower });
      }
    }
    return taken.length === 0 ? none : taken;
  },
});

/** Returns whether a path contains all paths of another one. */
function contains(path: RouteMatch['path'], { own, wider }: PathKey): boolean {
  const key = pathKey(path).own;
  return key === own || wider.some((prefix) => prefixKey(prefix) === key);
}

function losingKeys(host: string, hostname: string, { own, wider }: PathKey, conditions: string): readonly string[] {
  const classes = conditions === '' ? [anyConditions] : [conditions, ''];
  const above = isWideHostname(hostname) ? wider : [];
  return classes.flatMap((one) => [
    keyAt(host, own, one),
    ...above.map((prefix) => coveringKey(host, prefixKey(prefix), one)),
  ]);
}

/** Returns a match of another namespace. The same one is found again as long as it exists and none sorts before it. */
function winnerAmong(read: Reader, namespace: string, keys: readonly string[]): Winner | undefined {
  for (const key of keys) {
    const first = winnerOf(read.first(winnersOfRequests, key));
    if (first === undefined) continue;
    if (first.namespace !== namespace) return first;
    const last = winnerOf(read.last(winnersOfRequests, key));
    if (last !== undefined && last.namespace !== namespace) return last;
  }
  return undefined;
}

function winnerOf(entry: string | undefined): Winner | undefined {
  return entry === undefined ? undefined : (JSON.parse(entry) as readonly [string, Winner])[1];
}
