import { observes } from '../../../core/graph/observed.ts';
import type { Installation } from '../../../core/graph/inputs.ts';
import { routeKindsOf, servesHostnames, transportOfProtocol } from '../../../core/graph/protocols.ts';
import type { EndpointsConfig, ListenerConfig } from '../../../core/routing/config.ts';
import type { Layer4Outcome } from '../../../core/routing/decision/layer4-outcome.ts';
import type { Outcome } from '../../../core/routing/decision/outcome.ts';
import { ofEndpointsKey } from '../../../core/graph/backends/endpoints-key.ts';
import { quote } from '../../../core/text/display.ts';

type Extent = Pick<Installation, 'unobserved' | 'observedOnlyIn'>;

/** Objects that are not observed, and that may change how a Gateway handles a request or connection, in sentences. */
export interface UnobservedObjects {
  /** Routes that may match what no observed route matches. */
  readonly routes: readonly string[];
  /** Owners of the hostname, and policies for TLS to a backend. */
  readonly policies: readonly string[];
}

type ExplainedOutcome =
  | Pick<Outcome, 'listener' | 'decision' | 'shares'>
  | Pick<Layer4Outcome, 'listener' | 'decision'>;

/** Returns what is not observed about the outcome of a request or connection. Empty lists if everything that matters is observed. */
export function unobservedObjects(extent: Extent, outcome: ExplainedOutcome): UnobservedObjects {
  const { listener, decision } = outcome;
  // Requests on a connection have outcomes of their own.
  if (listener === undefined || decision.type === 'requests') return { routes: [], policies: [] };
  const kinds = extent.unobserved.filter((kind) => routeKindsOf(listener.protocol)?.some((one) => one.kind === kind));
  const hasNoRoute = 'reason' in decision && decision.reason === 'no-route';
  return {
    routes: hasNoRoute
      ? kinds.map((kind) => `unknown: an object of kind ${kind} may match, and they are ${extentOf(extent, kind)}`)
      : [],
    policies: [...unobservedOwners(extent, listener), ...unobservedTlsPolicies(extent, listener, endpointsIn(outcome))],
  };
}

function unobservedOwners(extent: Extent, { protocol }: ListenerConfig): readonly string[] {
  const isByHostname = routeKindsOf(protocol)?.some(({ kind }) => servesHostnames(kind)) ?? false;
  return isByHostname && extent.unobserved.includes('HostnamePolicy')
    ? [
        `unknown: a HostnamePolicy may permit the hostname in other namespaces only, and they are ${extentOf(extent, 'HostnamePolicy')}`,
      ]
    : [];
}

/** Endpoints that get a share. */
function endpointsIn(outcome: ExplainedOutcome): readonly EndpointsConfig[] {
  const { decision } = outcome;
  const ofConnection = decision.type === 'forward' && 'shares' in decision ? decision.shares : [];
  const shares = 'shares' in outcome ? outcome.shares : ofConnection;
  return shares.flatMap(({ result }) => (result.type === 'send' ? [result.endpoints] : []));
}

/** Backends without TLS for which a BackendTLSPolicy may exist. Datagrams and TLS that passes through are forwarded as they are. */
function unobservedTlsPolicies(
  extent: Extent,
  { protocol, tlsMode }: ListenerConfig,
  endpoints: readonly EndpointsConfig[],
): readonly string[] {
  if (tlsMode === 'Passthrough' || transportOfProtocol(protocol) === 'UDP') return [];
  const sentences = endpoints
    .filter(({ tls }) => tls === undefined)
    .map(({ key }) => ofEndpointsKey(key).backend)
    .filter(({ namespace }) => !observes(extent, { kind: 'BackendTLSPolicy', namespace }))
    .map(
      ({ namespace, name }) =>
        `unknown: a BackendTLSPolicy may require TLS to ${namespace}/${name}, and they are ${extentOf(extent, 'BackendTLSPolicy')}`,
    );
  return [...new Set(sentences)];
}

function extentOf({ observedOnlyIn = {} }: Extent, kind: Installation['unobserved'][number]): string {
  const namespace = observedOnlyIn[kind];
  return namespace === undefined
    ? 'not observed (no permission)'
    : `observed only in namespace ${quote(namespace)} (no permission)`;
}
