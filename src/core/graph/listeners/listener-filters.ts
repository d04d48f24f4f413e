import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import type { ListenerView } from './addressed-listeners.ts';
import {
  authorizerPlaces,
  backends,
  backendPlaces,
  backendsOfFilters,
  resolveBackend,
  type BackendOutcome,
  type BackendPlace,
  type FilterBackends,
} from '../backends/backends.ts';
import { readObject } from '../inputs.ts';
import { isOwnerKind, type OwnerKind } from './listener-sets.ts';
import { strata } from '../strata.ts';

/** One of spec.listeners[].filters.requests. */
export type ListenerFilterView = NonNullable<NonNullable<ListenerView['filters']>['requests']>[number];

/** Returns the location of the filters of a listener. */
export function listenerFiltersPath(listener: number): Path {
  return ['spec', 'listeners', listener, 'filters', 'requests'];
}

/** The authorization servers of the filters of all listeners: position in spec.listeners → servers (GEP-5224). */
export const listenerAuthorizers = defineQuery({
  name: 'listenerAuthorizers',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): Readonly<Record<number, FilterBackends>> {
    const listeners = readObject(read, kind, namespace, name)?.spec?.listeners ?? [];
    return Object.fromEntries(
      listeners.flatMap(({ filters }, index): (readonly [number, FilterBackends])[] =>
        filters?.requests === undefined
          ? []
          : [
              [
                index,
                backendsOfFilters(filters.requests, 'externalAuth', (ref) =>
                  resolveBackend(read, kind, namespace, ref),
                ),
              ],
            ],
      ),
    );
  },
});

/** Returns the backends of a route, or of the listener filters of a Gateway or ListenerSet, that resolve with one of the outcomes. */
export function backendPlacesOf<T extends BackendOutcome['type']>(
  read: Reader,
  { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
  types: readonly T[],
): readonly BackendPlace<T>[] {
  if (!isOwnerKind(kind)) return backendPlaces(read.query(backends, kind, namespace, name), types);
  return Object.entries(read.query(listenerAuthorizers, kind, namespace, name)).flatMap(([listener, nodes]) =>
    authorizerPlaces(nodes, types, () => listenerFiltersPath(Number(listener))),
  );
}
