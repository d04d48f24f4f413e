import { endpointsLabel } from '../../../core/graph/backends/endpoints-key.ts';
import { destinationsOf } from '../../../core/routing/config.ts';
import type { Layer4RouteConfig, ListenerConfig } from '../../../core/routing/config.ts';
import type { Layer4Candidate } from '../../../core/routing/decision/layer4.ts';
import type { Layer4Decision, Layer4Outcome, Layer4Share } from '../../../core/routing/decision/layer4-outcome.ts';
import { listenerText, type Explanation } from './explanation.ts';
import { unobservedText } from '../unobserved.ts';

/**
 * How a Gateway handles a connection or flow, in words.
 *
 * @param unseenRoutes sentences about routes that are not observed and may match, instead of the result that no route matches
 */
export function explainLayer4Outcome(
  { gateway, listener, decision, candidates }: Layer4Outcome,
  unobservedRoutes: readonly string[] = [],
): Explanation {
  const covering = candidates.filter(({ covers }) => covers);
  return {
    gateway,
    listener: listener && `${listenerText(listener)}${modeText(listener)}`,
    chosen: 'route' in decision ? nameOf(decision.route) : undefined,
    lines: linesOf(decision, listener, unobservedRoutes),
    candidates: covering.map((candidate, index) => ({
      name: candidateText(candidate),
      remark: index === 0 ? 'matches' : 'shadowed',
    })),
    others: candidates.length - covering.length,
  };
}

function linesOf(
  decision: Layer4Decision,
  listener: ListenerConfig | undefined,
  unobservedRoutes: readonly string[],
): readonly string[] {
  if ('route' in decision) return decisionLines(decision, listener);
  return unobservedRoutes.length > 0 ? unobservedRoutes : [plainDecision(decision, listener)];
}

function modeText({ tlsMode }: ListenerConfig): string {
  if (tlsMode === undefined) return '';
  return tlsMode === 'Passthrough' ? ', TLS passes through' : ', TLS is terminated';
}

function nameOf({ routeKind, route }: Layer4RouteConfig): string {
  return `${routeKind} ${route}`;
}

function candidateText({ route, hostname }: Layer4Candidate): string {
  return `${nameOf(route)}${hostname === '' ? '' : ` ${hostname}`}`;
}

function plainDecision(
  decision: Exclude<Layer4Decision, { readonly route: unknown }>,
  listener: ListenerConfig | undefined,
): string {
  const isFlow = listener?.protocol === 'UDP';
  if (decision.type === 'requests')
    return 'The listener serves HTTPS: use an https:// URL to see how its requests are routed.';
  const reason =
    decision.reason === 'no-listener'
      ? 'No listener serves this server name.'
      : `No route matches this ${isFlow ? 'flow' : 'connection'}.`;
  return `${isFlow ? 'Datagrams are dropped' : 'The connection is closed'}: ${reason}`;
}

function decisionLines(
  decision: Extract<Layer4Decision, { readonly route: unknown }>,
  listener: ListenerConfig | undefined,
): readonly string[] {
  const isFlow = listener?.protocol === 'UDP';
  if (decision.type === 'close')
    return [`${isFlow ? 'drops all datagrams' : 'closes all connections'}: ${decision.route.failure}`];
  return decision.shares.map((share) => shareLine(share, listener));
}

/** Why a connection or a share of connections reaches no backend. */
export const closeReasons = {
  'no-listener': 'no listener serves the server name',
  'no-route': 'no route matches',
  'rule-failure': 'the route is invalid',
  'no-backend': 'no backend has a weight above 0',
  'invalid-backend': 'the backend cannot be used',
  'no-endpoints': 'the backend has no endpoints',
  'name-unresolved': 'the name of the backend has no address',
  'internal-address': 'the name of the backend has an internal address',
} as const;

function shareLine({ weight, total, backend, result }: Layer4Share, listener: ListenerConfig | undefined): string {
  const share = `${weight} of ${total}`;
  const name = backend?.target.type === 'endpoints' ? endpointsLabel(backend.target.key) : undefined;
  if (result.type === 'send')
    return `${share} to ${name}: ${destinationsOf(result.endpoints).join(', ')}${result.endpoints.tls === undefined || listener?.tlsMode === 'Passthrough' ? '' : ' over TLS'}`;
  const label = name === undefined ? '' : ` (${name})`;
  if (result.type === 'unknown') return `${share} unknown${label}: ${unobservedText(result.unobserved)}`;
  return `${share} ${listener?.protocol === 'UDP' ? 'dropped' : 'reset'}${label}: ${result.detail ?? closeReasons[result.reason]}`;
}
