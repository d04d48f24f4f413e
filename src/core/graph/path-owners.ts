import { defineQuery } from '../incremental/index.ts';
import { hasPathPrefix } from '../text/path.ts';
import { widerHostnames } from '../text/hostname.ts';
import type { PrefixRelation } from '../text/pattern-prefix.ts';
import { compilePattern } from '../text/pattern.ts';
import {
  ownersBelow,
  ownersOf,
  wholeOwner,
  type HostnamePermission,
  type HostnameRefusal,
  type PathOwner,
} from './hostname-policies.ts';
import type { RouteMatch } from './route-match.ts';
import { strata } from './strata.ts';

// HostnamePolicies with paths define which namespaces may serve some paths of a hostname.

/** The owners of the paths that a route gets requests for. */
interface PathOwners {
  /** Of each owned hostname that covers the hostname, narrowest first, up to the first one that is owned with all paths. */
  readonly covering: readonly (readonly PathOwner[])[];
  /** Of narrower hostnames: one for each path that the namespace may not serve. Empty if the hostname has an owner. */
  readonly below: readonly PathOwner[];
}

/** The owners of the paths of a hostname on a Gateway (`namespace/name`), with their decisions about a namespace. */
export const pathOwners = defineQuery({
  name: 'pathOwners',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): PathOwners {
    const covering: (readonly PathOwner[])[] = [];
    for (const wider of [hostname, ...widerHostnames(hostname)]) {
      const owners = ownersOf(read, wider, gateway, namespace);
      if (owners.length > 0) covering.push(owners);
      if (wholeOwner(owners) !== undefined) return { covering, below: [] };
    }
    const forbidden = ownersBelow(read, hostname, gateway, namespace)
      .flat()
      .filter(({ permission }) => permission.type !== 'permitted')
      // A refusal is certain, so it counts more.
      .sort((one, other) => rank(one) - rank(other));
    return {
      covering,
      below: [...Map.groupBy(forbidden, ({ path }) => path).values()].flatMap(([first]) => first ?? []),
    };
  },
});

function rank({ permission }: PathOwner): number {
  return permission.type === 'refused' ? 0 : 1;
}

/** Whether routes of a namespace may serve a hostname. */
export type RoutePermission =
  | Exclude<HostnamePermission, { readonly type: 'permitted' }>
  /** `byPath`: some paths have owners, so the matches of the route need permission, too. */
  | { readonly type: 'permitted'; readonly byPath?: true };

/**
 * Whether routes with matches may serve a hostname on a Gateway (`namespace/name`). A namespace that may serve only some paths may
 * serve the hostname, and `refusalOfPath` decides about each match.
 */
export const routePermission = defineQuery({
  name: 'routePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): RoutePermission {
    const { covering, below } = read.query(pathOwners, hostname, gateway, namespace);
    const ofPaths = [...covering.flat(), ...below].filter(({ path }) => path !== '');
    if (ofPaths.some(({ permission }) => permission.type === 'unobserved')) return { type: 'unobserved' };
    const whole = (wholeOwner(covering.at(-1) ?? []) ?? wholeOwner(below))?.permission;
    // Only owners of covering hostnames can permit anything here.
    const hasOwnPath = ofPaths.some(({ permission }) => permission.type === 'permitted');
    if (whole !== undefined && whole.type !== 'permitted' && !(whole.type === 'refused' && hasOwnPath)) return whole;
    return ofPaths.length === 0 ? { type: 'permitted' } : { type: 'permitted', byPath: true };
  },
});

/**
 * Returns why a namespace may not serve a path of a hostname; `undefined` if it may. The policies with the narrowest hostname, then
 * with the longest path that contains all requests of the match decide. A match also needs permission for each path that it takes
 * from its owner: with a more specific hostname, or as a regular expression, it has precedence over longer prefixes. Any other
 * prefix leaves the requests for longer ones to their owners.
 *
 * @param hostname the served hostname
 */
export function refusalOfPath(
  { covering, below }: PathOwners,
  hostname: string,
  path: RouteMatch['path'],
): HostnameRefusal | undefined {
  for (const owners of covering) {
    const related = owners.map((owner) => ({ ...owner, relation: relationTo(path, owner.path) }));
    const taken = related.find(
      ({ owned, permission, relation }) =>
        permission.type === 'refused' &&
        relation === 'overlapping' &&
        (owned !== hostname || path.type === 'RegularExpression'),
    );
    const decisive = taken ?? related.find(({ relation }) => relation === 'within');
    if (decisive !== undefined) return refusalIn(decisive);
  }
  // Routes for narrower hostnames have precedence, so nothing is taken from their owners.
  const owner = below.find((one) => one.permission.type === 'refused' && relationTo(path, one.path) === 'within');
  return owner && refusalIn(owner);
}

/** Returns whether policies give a path to a namespace by name of the path, not only together with the hostname. */
export function ownsPath({ covering }: PathOwners, path: RouteMatch['path']): boolean {
  const decisive = covering.flat().find((owner) => relationTo(path, owner.path) === 'within');
  return decisive !== undefined && decisive.path !== '' && decisive.permission.type === 'permitted';
}

function refusalIn({ permission }: PathOwner): HostnameRefusal | undefined {
  return permission.type === 'refused' ? permission : undefined;
}

/** An invalid expression matches nothing. */
function relationTo({ type, value }: RouteMatch['path'], prefix: string): PrefixRelation {
  if (prefix === '') return 'within';
  if (type === 'RegularExpression') {
    const compiled = compilePattern(value);
    return compiled.ok ? compiled.pattern.relationTo(prefix) : 'disjoint';
  }
  if (hasPathPrefix(value, prefix)) return 'within';
  return type === 'PathPrefix' && hasPathPrefix(prefix, value) ? 'overlapping' : 'disjoint';
}
