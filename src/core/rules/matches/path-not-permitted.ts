import { attachments, type ServedByPath } from '../../graph/attachment.ts';
import { pathOwners, refusalOfPath } from '../../graph/path-owners.ts';
import { requestRouteKinds, type RequestRouteKind } from '../../graph/protocols.ts';
import type { RouteMatch } from '../../graph/route-match.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import { quote } from '../../text/display.ts';
import { denied } from '../engine/effects.ts';
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
    const { kind, ref } = subject;
    const places = read
      .query(attachments, kind, ref.namespace, ref.name)
      .flatMap(({ outcome }) => (outcome.type === 'attached' && outcome.byPath ? [outcome.byPath] : []));
    if (places.length === 0) return;
    for (const { rule: index, match } of comparedMatches(subject)) {
      for (const found of refusals(read, places, match.path, ref.namespace)) {
        report({ path: matchPath(subject, { rule: index, match: match.index }), ...found });
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

/** Returns one finding for each hostname of a Gateway at which a path is not permitted. */
function refusals(
  read: Reader,
  places: readonly ServedByPath[],
  path: RouteMatch['path'],
  namespace: string,
): readonly { readonly value: string; readonly message: string }[] {
  const found = places.flatMap(({ gateway, hostnames }) =>
    hostnames.flatMap((hostname) => {
      const refusal = refusalOfPath(read.query(pathOwners, hostname, gateway, namespace), hostname, path);
      if (refusal === undefined) return [];
      const value = `${hostname}${path.value}`;
      const message = `Namespace ${quote(namespace)} may not serve ${pathText(path)} of ${hostnameText(hostname)} on Gateway ${quote(gateway)}: ${describeOwners(refusal)}. Use a path of this namespace, or add the namespace to the policy.`;
      return [[message, { value, message }] as const];
    }),
  );
  return [...new Map(found).values()];
}

const pathNouns = { Exact: 'path', PathPrefix: 'path prefix', RegularExpression: 'paths that match' } as const;

function pathText({ type, value }: RouteMatch['path']): string {
  return `${pathNouns[type]} ${quote(value)}`;
}
