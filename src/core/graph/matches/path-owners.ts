import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import {
  coveringHostnames,
  judgedBelow,
  judgedOf,
  ownsAllPaths,
  refusalOn,
  verdictOn,
  type HostnamePermission,
  type JudgedHostname,
  type Verdict,
} from './hostname-policies.ts';
import { strata } from '../strata.ts';

// HostnamePolicies with paths define which namespaces may serve some paths of a hostname.

/** The owners of the paths that a route gets requests for. */
export interface PathOwners {
  /** Each owned hostname that covers the hostname, narrowest first, up to the first one that is owned with all paths. */
  readonly covering: readonly JudgedHostname[];
  /** The narrower hostnames. Empty if the hostname has an owner. */
  readonly below: readonly JudgedHostname[];
}

/**
 * Returns the owners of the paths of a hostname on a Gateway (`namespace/name`), with their decisions about a namespace. It is not a
 * query: the result for each namespace would be kept, and compared after each change.
 */
export function pathOwners(read: Reader, hostname: string, gateway: string, namespace: string): PathOwners {
  const covering: JudgedHostname[] = [];
  for (const wider of coveringHostnames(read, hostname)) {
    const judged = judgedOf(read, wider, gateway, namespace);
    covering.push(...judged.filter(({ hostname: { paths } }) => paths.size > 0));
    if (judged.some(ownsAllPaths)) return { covering, below: [] };
  }
  return { covering, below: judgedBelow(read, hostname, gateway, namespace) };
}

/** Whether routes of a namespace may serve a hostname. */
export type RoutePermission =
  | Exclude<HostnamePermission, { readonly type: 'permitted' }>
  /** `byPath`: some paths have owners, so the matches of the route need permission, too. */
  | { readonly type: 'permitted'; readonly byPath?: true };

/**
 * Whether routes with matches may serve a hostname on a Gateway (`namespace/name`). A namespace that may serve only some paths may
 * serve the hostname, and `PathComparison` decides about each match.
 */
export const routePermission = defineQuery({
  name: 'routePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): RoutePermission {
    const { covering, below } = pathOwners(read, hostname, gateway, namespace);
    if (covering.some((judged) => hasPath(judged, 'unobserved')) || hasUnobservedPath(below))
      return { type: 'unobserved' };
    const whole = permissionOfAll(covering.slice(-1)) ?? permissionOfAll(below.filter(isForbidden));
    // Only owners of covering hostnames can permit anything here.
    const hasOwnPath = covering.some((judged) => hasPath(judged, 'permitted'));
    if (whole !== undefined && whole.type !== 'permitted' && !(whole.type === 'refused' && hasOwnPath)) return whole;
    const byPath = hasOwnPath || [...covering, ...below].some((judged) => hasPath(judged, 'refused'));
    return byPath ? { type: 'permitted', byPath } : { type: 'permitted' };
  },
});

/** Whether there is this decision about any path prefix except that of every path. */
function hasPath({ hostname, verdicts }: JudgedHostname, wanted: Verdict): boolean {
  if (!verdicts.includes(wanted)) return false;
  return verdicts.some((verdict, position) => verdict === wanted && hostname.grants[position]?.isOfPaths === true);
}

/** Whether it is unknown if any path of narrower hostnames is refused. A path that one of them refuses is refused anyway. */
function hasUnobservedPath(below: readonly JudgedHostname[]): boolean {
  const unobserved = below.flatMap((judged) => pathsWith(judged, 'unobserved'));
  if (unobserved.length === 0) return false;
  const refused = new Set(below.flatMap((judged) => pathsWith(judged, 'refused')));
  return unobserved.some((path) => !refused.has(path));
}

function pathsWith(judged: JudgedHostname, wanted: Verdict): readonly string[] {
  if (!hasPath(judged, wanted)) return [];
  return [...judged.hostname.paths.keys()].filter((path) => path !== '' && verdictOn(judged, path) === wanted);
}

function isForbidden(judged: JudgedHostname): boolean {
  return verdictOn(judged, '') !== 'permitted';
}

/** The decision about all paths of the first hostname that has one. A refusal is certain, so it counts more. */
function permissionOfAll(hostnames: readonly JudgedHostname[]): HostnamePermission | undefined {
  const whole = hostnames.filter(ownsAllPaths);
  const decisive = whole.find((judged) => verdictOn(judged, '') === 'refused') ?? whole[0];
  if (decisive === undefined) return undefined;
  const verdict = verdictOn(decisive, '') ?? 'permitted';
  return verdict === 'refused' ? refusalOn(decisive.hostname, '') : { type: verdict };
}
