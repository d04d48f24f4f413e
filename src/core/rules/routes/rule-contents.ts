import { fieldDefaults } from '../../schema/index.ts';
import type { WholeObject } from '../engine/written-object.ts';

// The contents of a route's rules: matches that never win, and backends that never get a request.

export interface BackendRef {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly unknown[];
}

export interface Filter {
  readonly type?: string;
}

export interface RouteRule {
  readonly filters?: readonly Filter[];
  readonly backendRefs?: readonly BackendRef[];
}

/** Returns equal strings for references to the same backend. `own` is the namespace of the route. */
export function backendOf(ref: BackendRef, own: string): string {
  const { group, kind, name, namespace, port }: BackendRef = { ...fieldDefaults.backendRef, ...ref };
  return JSON.stringify([group, kind, name, namespace ?? own, port]);
}

export type Route<R = RouteRule> = WholeObject<{ readonly rules?: readonly R[] }>;

export interface Redirect {
  readonly scheme?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: object;
}
