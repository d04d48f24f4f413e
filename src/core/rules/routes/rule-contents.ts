import { keyOf } from '../../incremental/key.ts';
import { type ViewAt } from '../../schema/index.ts';
import type { WholeObject } from '../engine/written-object.ts';
import { backendGroupKind } from '../../semantics/intended.ts';

// The contents of a route's rules: matches that never win, and backends that never get a request.

export type BackendRef = ViewAt<'HTTPRoute', 'spec.rules[].backendRefs[]'>;

export type Filter = ViewAt<'HTTPRoute', 'spec.rules[].filters[]'>;

export type RouteRule = ViewAt<'HTTPRoute', 'spec.rules[]'>;

/** Returns equal strings for references to the same backend. `own` is the namespace of the route. */
export function backendOf(ref: BackendRef, own: string): string {
  const { group, kind } = backendGroupKind(ref);
  const { name, namespace, port } = ref;
  return keyOf([group, kind, namespace ?? own, String(port), ...(name === undefined ? [] : [name])]);
}

/** A route whose rules have the fields that `R` has; only matches differ between HTTPRoutes and GRPCRoutes. */
export type Route<R = Omit<RouteRule, 'matches'>> = WholeObject<{ readonly rules?: readonly R[] }>;

export type Redirect = ViewAt<'HTTPRoute', 'spec.rules[].filters[].requestRedirect'>;
