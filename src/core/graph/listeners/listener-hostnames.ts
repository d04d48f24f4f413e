import { defineQuery } from '../../incremental/index.ts';
import type { RefusedHostname } from '../attachment.ts';
import { coveringPermission, hasHostnamePolicies } from '../matches/hostname-policies.ts';
import { servingGateway, type ListenerOwner } from './listener-sets.ts';
import { listenersOf } from './listeners.ts';
import { routeKindsOf, servesHostnames } from '../protocols.ts';
import { strata } from '../strata.ts';
import { qualifiedName } from '../../resources/reference.ts';

/**
 * The listeners of a ListenerSet whose hostnames HostnamePolicies do not permit in its namespace, by name. A listener reserves
 * its hostname: requests for it reach no listener with a wider one (Gateway API, "Listener isolation"). Only the policies that
 * cover the hostname itself decide: a listener without a hostname leaves all requests to others, and routes that attach to a
 * wildcard are checked anyway. The listeners of a Gateway itself belong to its owner and are not judged.
 */
export const refusedListeners = defineQuery({
  name: 'refusedListeners',
  stratum: strata.links,
  compute(read, namespace: string, name: string): Readonly<Record<string, RefusedHostname>> {
    if (!read.query(hasHostnamePolicies)) return {};
    const owner: ListenerOwner = { kind: 'ListenerSet', namespace, name };
    const serving = servingGateway(read, owner);
    if (serving === undefined) return {};
    const gateway = qualifiedName(serving);
    return Object.fromEntries(
      listenersOf(read, owner).flatMap(({ name: listener, hostname, protocol }): [string, RefusedHostname][] => {
        if (hostname === undefined || !hasHostnames(protocol)) return [];
        const permission = read.query(coveringPermission, hostname, gateway, namespace);
        if (permission?.type !== 'refused') return [];
        const { type: _type, ...refusal } = permission;
        return [[listener, { ...refusal, gateway, own: hostname, served: hostname }]];
      }),
    );
  },
});

/** Returns whether listeners of a protocol are selected by hostname. */
function hasHostnames(protocol: string): boolean {
  return routeKindsOf(protocol)?.some(({ kind }) => servesHostnames(kind)) === true;
}
