import { attachments } from '../../graph/attachment.ts';
import { ownedPlace, PathComparison, type OwnedPlace, type PathRefusal } from '../../graph/matches/path-comparison.ts';
import { requestRouteKinds, type RequestRouteKind } from '../../graph/protocols.ts';
import type { RouteMatch } from '../../graph/matches/route-match.ts';
import { keyOf } from '../../incremental/key.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import { quote } from '../../text/display.ts';
import { denied } from '../engine/effects.ts';
import { findingsPerRule } from '../engine/finding-limit.ts';
import { matchPath } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { describeOwners, hostnameText } from '../parents/hostname-owners.ts';
import { judgeExpressions } from './expressions.ts';
import { servedMatches } from './served-matches.ts';

export const pathNotPermitted = rule({
  id: 'path-not-permitted',
  kinds: requestRouteKinds,
  summary: 'A HostnamePolicy permits a path of the route only in other namespaces.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'PathNotPermitted', scope: 'match' },
  source: 'HostnamePolicy of sallyport.dev/v1alpha1; Gateway API security model, "Avoiding hostname/domain hijacking"',
  check(subject, read, report) {
    const places = placesOf(subject, read);
    if (places.length === 0) return;
    const comparison = new PathComparison();
    let left = findingsPerRule;
    for (const { rule: index, match } of comparedMatches(subject)) {
      const path = matchPath(subject, { rule: index, match: match.index });
      for (const place of places) {
        const found = comparison.refusalOf(place, match);
        if (found === undefined) continue;
        report({ path, value: `${place.hostname}${match.path.value}`, message: messageOf(place, match.path, found) });
        left -= 1;
        // More findings about the match would be dropped.
        if (left <= 0) break;
      }
    }
  },
});

interface PlacedMatch {
  readonly rule: number;
  readonly match: RouteMatch;
}

/** Returns the matches of a route, except those with regular expressions that exceed the limits, which match nothing. */
function comparedMatches(route: Resource<RequestRouteKind>): readonly PlacedMatch[] {
  const beyond = new Set(judgeExpressions(route).beyond.map(({ path }) => `${path[2]} ${path[4]}`));
  return servedMatches(route, []).flatMap((matches, index) =>
    matches
      .filter((match) => !beyond.has(`${index} ${match.index}`))
      .map((match): PlacedMatch => ({ rule: index, match })),
  );
}

/** A hostname of a Gateway at which the route needs permission for its paths. */
interface ServedHostname extends OwnedPlace {
  readonly gateway: string;
  /** Of the route. */
  readonly namespace: string;
}

/** Returns each hostname of a Gateway once, because several parentRefs can attach to the same one. */
function placesOf(
  { kind, ref: { namespace, name } }: Resource<RequestRouteKind>,
  read: Reader,
): readonly ServedHostname[] {
  const places = read.query(attachments, kind, namespace, name).flatMap(({ outcome }) => {
    if (outcome.type !== 'attached' || outcome.byPath === undefined) return [];
    const { gateway, hostnames } = outcome.byPath;
    return hostnames.map((served) => [keyOf([gateway, served]), { gateway, served }] as const);
  });
  return [...new Map(places).values()].map(({ gateway, served }) => ({
    ...ownedPlace(read, served, gateway, namespace),
    gateway,
    namespace,
  }));
}

function messageOf(
  { hostname, gateway, namespace }: ServedHostname,
  path: RouteMatch['path'],
  { refusal, isCompared }: PathRefusal,
): string {
  const where = `${pathText(path)} of ${hostnameText(hostname)} on Gateway ${quote(gateway)}`;
  return isCompared
    ? `Namespace ${quote(namespace)} may not serve ${where}: ${describeOwners(refusal)}. Use a path of this namespace, or add the namespace to the policy.`
    : `Sallyport cannot compare ${where} with all owned paths, because the route needs too many comparisons: ${describeOwners(refusal)}. Use fewer regular expressions or hostnames, or split the route.`;
}

const pathNouns = { Exact: 'path', PathPrefix: 'path prefix', RegularExpression: 'paths that match' } as const;

function pathText({ type, value }: RouteMatch['path']): string {
  return `${pathNouns[type]} ${quote(value)}`;
}
