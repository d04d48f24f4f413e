import type { Layer4RouteConfig, ListenerConfig } from '../../core/routing/config.ts';
import type { Layer4Candidate } from '../../core/routing/decision/layer4.ts';
import type { Layer4Decision, Layer4Outcome, Layer4Share } from '../../core/routing/decision/layer4-outcome.ts';
import type { Terminal } from '../terminal.ts';

/** Prints what a Gateway does with a connection or flow, for people. */
export function printLayer4Outcome(terminal: Terminal, { gateway, listener, decision, candidates }: Layer4Outcome): void {
  const mode = listener?.tlsMode === undefined ? '' : `, ${listener.tlsMode === 'Passthrough' ? 'TLS passes through' : 'TLS is terminated'}`;
  terminal.heading(listener === undefined ? `Gateway ${gateway}` : `Gateway ${gateway}, listener ${listener.name}${listener.hostname === undefined ? '' : ` (${listener.hostname})`}${mode}`);
  const isFlow = listener?.protocol === 'UDP';
  if ('route' in decision) {
    terminal.line(`  ${terminal.style('green', nameOf(decision.route))}`);
    for (const line of decisionLines(decision, listener)) terminal.line(`    ${line}`);
  } else {
    terminal.line(`  ${plainDecision(decision, isFlow)}`);
  }
  if (candidates.length === 0) return;
  terminal.line('  Candidates in order of precedence');
  const covering = candidates.filter(({ covers }) => covers);
  for (const [index, candidate] of covering.entries()) terminal.line(`    ${candidateText(candidate).padEnd(44)} ${index === 0 ? 'matches' : 'shadowed'}`);
  const others = candidates.length - covering.length;
  if (others > 0) terminal.line(`    (and ${others} for other hosts)`);
}

function nameOf({ routeKind, route }: Layer4RouteConfig): string {
  return `${routeKind} ${route}`;
}

function candidateText({ route, hostname }: Layer4Candidate): string {
  return `${nameOf(route)}${hostname === '' ? '' : ` ${hostname}`}`;
}

function plainDecision(decision: Exclude<Layer4Decision, { readonly route: unknown }>, isFlow: boolean): string {
  if (decision.type === 'requests') return 'The listener serves HTTPS: use an https:// URL to see how its requests are routed.';
  const reason = decision.reason === 'no-listener' ? 'No listener covers this server name.' : `No route matches this ${isFlow ? 'flow' : 'connection'}.`;
  return `${isFlow ? 'Datagrams are dropped' : 'The connection is closed'}: ${reason}`;
}

function decisionLines(decision: Extract<Layer4Decision, { readonly route: unknown }>, listener: ListenerConfig | undefined): readonly string[] {
  const isFlow = listener?.protocol === 'UDP';
  if (decision.type === 'close') return [`${isFlow ? 'drops all datagrams' : 'closes all connections'}: ${decision.route.failure}`];
  return decision.shares.map((share) => shareLine(share, listener));
}

const reasons = { 'no-backend': 'no backend has a weight above 0', 'invalid-backend': 'the backend cannot be used', 'no-endpoints': 'the backend has no endpoints' } as const;

function shareLine({ weight, total, backend, result }: Layer4Share, listener: ListenerConfig | undefined): string {
  const share = `${weight} of ${total}`;
  const name = backend?.target.type === 'endpoints' ? backend.target.key.slice('endpoints/'.length) : undefined;
  if (result.type === 'send') return `${share} to ${name}: ${result.endpoints.addresses.map(({ host, port }) => `${host}:${port}`).join(', ')}${result.endpoints.tls === undefined || listener?.tlsMode === 'Passthrough' ? '' : ' over TLS'}`;
  return `${share} ${listener?.protocol === 'UDP' ? 'dropped' : 'reset'}${name === undefined ? '' : ` (${name})`}: ${result.detail ?? reasons[result.reason]}`;
}
