import { observes } from '../../core/graph/observed.ts';
import type { Installation } from '../../core/graph/inputs.ts';
import type { Outcome } from '../../core/routing/decision/outcome.ts';
import { ofEndpointsKey } from '../../core/routing/endpoints-key.ts';
import { quote } from '../../core/text/display.ts';

type Extent = Pick<Installation, 'unobserved' | 'observedOnlyIn'>;

/** Objects that are not observed, and that may change how a Gateway handles a request, in sentences. */
export interface Unseen {
  /** Routes that may match a request that no observed route matches. */
  readonly routes: readonly string[];
  /** Owners of the hostname, and policies for TLS to a backend. */
  readonly policies: readonly string[];
}

/** Returns what is not observed about the outcome of a request. Empty lists if everything that matters is observed. */
export function unseenBy(
  extent: Extent,
  { listener, decision, shares }: Pick<Outcome, 'listener' | 'decision' | 'shares'>,
): Unseen {
  if (listener === undefined) return { routes: [], policies: [] };
  const hasNoRoute = decision.type === 'answer' && decision.reason === 'no-route';
  const routes = hasNoRoute ? (['HTTPRoute', 'GRPCRoute'] as const) : [];
  const plain = shares.flatMap(({ result }) => plainBackend(extent, result));
  return {
    routes: routes
      .filter((kind) => extent.unobserved.includes(kind))
      .map((kind) => `unknown: an object of kind ${kind} may match, and they are ${extentOf(extent, kind)}`),
    policies: [
      ...(extent.unobserved.includes('HostnamePolicy')
        ? [
            `unknown: a HostnamePolicy may permit the hostname in other namespaces only, and they are ${extentOf(extent, 'HostnamePolicy')}`,
          ]
        : []),
      ...new Set(plain),
    ],
  };
}

/** A backend without TLS for which a BackendTLSPolicy may exist. */
function plainBackend(extent: Extent, result: Outcome['shares'][number]['result']): readonly string[] {
  if (result.type !== 'send' || result.endpoints.tls !== undefined) return [];
  const { namespace, name } = ofEndpointsKey(result.endpoints.key).backend;
  return observes(extent, { kind: 'BackendTLSPolicy', namespace })
    ? []
    : [
        `unknown: a BackendTLSPolicy may require TLS to ${namespace}/${name}, and they are ${extentOf(extent, 'BackendTLSPolicy')}`,
      ];
}

function extentOf({ observedOnlyIn = {} }: Extent, kind: Installation['unobserved'][number]): string {
  const namespace = observedOnlyIn[kind];
  return namespace === undefined
    ? 'not observed (no permission)'
    : `observed only in namespace ${quote(namespace)} (no permission)`;
}
