import { defineQuery } from '../../incremental/index.ts';
import { widerHostnames } from '../../text/hostname.ts';
import { ownersBelow, ownersOf, wholeOwner, type HostnamePermission, type PathOwner } from './hostname-policies.ts';
import { strata } from '../strata.ts';

// HostnamePolicies with paths define which namespaces may serve some paths of a hostname.

/** The owners of the paths that a route gets requests for. */
export interface PathOwners {
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
 * serve the hostname, and `PathComparison` decides about each match.
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
