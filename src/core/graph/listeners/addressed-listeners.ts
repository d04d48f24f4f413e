import { defineQuery } from '../../incremental/index.ts';
import type { Resource } from '../../resources/resource.ts';
import { hostnameKey } from '../../text/hostname.ts';
import { readObject } from '../inputs.ts';
import type { OwnerKind } from './listener-sets.ts';
import { allowedNamespaces, type AllowedNamespaces } from '../namespaces.ts';
import { routeKindsOf, type RouteKind } from '../protocols.ts';
import { strata } from '../strata.ts';
import { allowedGroupKind, routesFrom } from '../../semantics/intended.ts';

/** The part of a listener that decides whether a route can attach, and nothing else: see `addressedListeners`. */
export interface AddressedListener {
  readonly name: string;
  /** Lower case; absent: any host. */
  readonly hostname?: string;
  /** The route kinds that may attach: supported by the protocol and allowed by allowedRoutes.kinds. */
  readonly routeKinds: readonly RouteKind[];
  readonly namespaces: AllowedNamespaces;
}

/**
 * The listeners that a parentRef addresses, in the order of the specification. If a name is duplicate, only the first listener
 * counts. `port` is `''` for any port. Without a section name, all listeners are addressed. The query reads only the owner of
 * the listeners and returns only the fields that routes depend on, so other changes of the owner do not re-evaluate its routes.
 * A parentRef to a Gateway does not include its ListenerSets (GEP-1713, "Gateway Parents and sectionName").
 */
export const addressedListeners = defineQuery({
  name: 'addressedListeners',
  stratum: strata.links,
  compute(
    read,
    ...[kind, namespace, owner, port, ...sectionNames]: readonly [
      kind: OwnerKind,
      namespace: string,
      owner: string,
      port: string,
      ...sectionNames: string[],
    ]
  ): readonly AddressedListener[] {
    const listeners = readObject(read, kind, namespace, owner)?.spec?.listeners ?? [];
    return firstOfEachName(listeners)
      .filter((listener) => sectionNames.length === 0 || sectionNames.includes(listener.name ?? ''))
      .filter((listener) => port === '' || port === String(listener.port ?? 0))
      .map(addressedListener);
  },
});

export type ListenerView = NonNullable<NonNullable<Resource<'Gateway'>['spec']>['listeners']>[number];

/** Returns the listeners without those whose name an earlier one has. */
export function firstOfEachName(listeners: readonly ListenerView[]): readonly ListenerView[] {
  const names = new Set<string>();
  return listeners.filter(({ name = '' }) => {
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
}

/** Returns the part of a listener that routes depend on. */
export function addressedListener({ name = '', hostname, protocol, allowedRoutes }: ListenerView): AddressedListener {
  const { routeKinds } = allowedKinds(protocol ?? '', allowedRoutes?.kinds ?? []);
  const namespaces = allowedNamespaces(allowedRoutes?.namespaces, routesFrom(allowedRoutes?.namespaces));
  return hostname === undefined || hostname === ''
    ? { name, routeKinds, namespaces }
    : { name, hostname: hostnameKey(hostname), routeKinds, namespaces };
}

/** Restricts the route kinds of the protocol to the named kinds. Without named kinds, all of them are allowed. */
export function allowedKinds(
  protocol: string,
  named: readonly Partial<RouteKind>[],
): { readonly routeKinds: readonly RouteKind[]; readonly invalidKinds: readonly RouteKind[] } {
  const supported = routeKindsOf(protocol) ?? [];
  if (named.length === 0) return { routeKinds: supported, invalidKinds: [] };
  const requested = named.map(allowedGroupKind);
  const isSupported = (kind: RouteKind): boolean =>
    supported.some((one) => one.group === kind.group && one.kind === kind.kind);
  return { routeKinds: requested.filter(isSupported), invalidKinds: requested.filter((kind) => !isSupported(kind)) };
}
