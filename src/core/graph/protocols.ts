import { gatewayGroup } from './inputs.ts';

export interface RouteKind {
  readonly group: string;
  readonly kind: string;
}

/** The listener protocols that are served, and the route kinds each can carry. New protocols are rows here. */
const served: Readonly<Record<string, { readonly routeKinds: readonly string[]; readonly tls: 'required' | 'forbidden' }>> = {
  HTTP: { routeKinds: ['HTTPRoute', 'GRPCRoute'], tls: 'forbidden' },
  HTTPS: { routeKinds: ['HTTPRoute', 'GRPCRoute'], tls: 'required' },
};

/** Every route kind that is served by some protocol. */
export const servedRouteKinds = ['HTTPRoute', 'GRPCRoute'] as const;
export type ServedRouteKind = (typeof servedRouteKinds)[number];

/** What a request gets that a route cannot serve although it should, for messages. */
export const failureOf: Readonly<Record<ServedRouteKind, string>> = { HTTPRoute: '500', GRPCRoute: 'UNAVAILABLE' };

/** The served route kinds of a protocol, `undefined` for a protocol that is not served. */
export function routeKindsOf(protocol: string): readonly RouteKind[] | undefined {
  const entry = Object.hasOwn(served, protocol) ? served[protocol] : undefined;
  return entry?.routeKinds.map((kind) => ({ group: gatewayGroup, kind }));
}

export function servedProtocols(): readonly string[] {
  return Object.keys(served);
}

/** Whether a listener of this protocol terminates TLS. */
export function terminatesTls(protocol: string): boolean {
  return Object.hasOwn(served, protocol) && served[protocol]?.tls === 'required';
}
