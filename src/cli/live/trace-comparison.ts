import { endpointsLabel } from '../../core/graph/backends/endpoints-key.ts';
import type { TraceReport } from '../../channel/trace.ts';
import type { Layer4Outcome, Layer4Share } from '../../core/routing/decision/layer4-outcome.ts';
import { settledDecision, type Outcome } from '../../core/routing/decision/outcome.ts';

/** What a data plane did with a request, connection or datagram. */
export interface TraceResult {
  /** The status of the response. `undefined` without a response, and for connections and datagrams. */
  readonly status?: number;
  readonly report?: TraceReport;
  /** How it differs from the prediction, in sentences; empty if it does not. */
  readonly differences: readonly string[];
  /** For people. */
  readonly lines: readonly string[];
}

/** Compares the decision of a data plane about a request with the prediction. */
export function compareRequest(outcome: Outcome, status: number, report: TraceReport): TraceResult {
  const { differences, lines } = compared(predictionOf(outcome, report), report, [`status ${status}`]);
  return { status, report, differences, lines };
}

/** Compares the decision of a data plane about a connection or datagram with the prediction. */
export function compareConnection(outcome: Layer4Outcome, report: TraceReport): TraceResult {
  const { protocol, tlsMode } = outcome.listener ?? {};
  const served = protocol === 'HTTPS' ? ['the listener serves HTTPS'] : [];
  const { differences, lines } = compared(connectionPredictionOf(outcome), report, served);
  const untested = tlsMode === 'Terminate' ? ['trace: without a TLS handshake: certificates are not tested'] : [];
  return { report, differences, lines: [...lines, ...untested] };
}

/** The decision that a data plane should report. `undefined`: none. */
interface Prediction {
  readonly listener: string | undefined;
  readonly route: string | undefined;
  readonly routeGeneration: number | undefined;
  readonly rule: number | undefined;
  readonly match: number | undefined;
  /** One for each share. */
  readonly backends: readonly (string | undefined)[];
  readonly reasons: readonly (string | undefined)[];
  /** Whether a server of an ExternalAuth filter is asked first. */
  readonly authorizes: boolean;
}

/** @param told what else is known, for people */
function compared(
  predicted: Prediction,
  report: TraceReport,
  details: readonly string[],
): Pick<TraceResult, 'differences' | 'lines'> {
  const differences = [
    ...different('listener', predicted.listener, report.listener),
    ...different('route', predicted.route, report.route),
    ...different('generation of the route', predicted.routeGeneration, report.routeGeneration),
    ...different('rule', predicted.rule, report.rule),
    ...different('match', predicted.match, report.match),
    ...(predicted.backends.includes(report.backend) || report.reason === 'authorization-denied'
      ? []
      : different('backend', predicted.backends.join(' or '), report.backend)),
    ...(predicted.reasons.includes(report.reason) || (report.reason === 'authorization-denied' && predicted.authorizes)
      ? []
      : different('reason', predicted.reasons.join(' or '), report.reason)),
  ];
  const text = [...details, ...reportTexts(report)].join(', ');
  return {
    differences,
    lines: [
      `trace: ${text}${differences.length === 0 ? ': as predicted' : ''}`,
      ...differences.map((difference) => `trace differs: ${difference}`),
    ],
  };
}

function reportTexts({ route, rule, match, backend, upstream, reason }: TraceReport): readonly string[] {
  return [
    ...(route === undefined ? [] : [`${route} rule ${rule}${match === undefined ? '' : ` match ${match}`}`]),
    ...(backend === undefined ? [] : [`backend ${backend}`]),
    ...(upstream === undefined ? [] : [`endpoint ${upstream}`]),
    ...(reason === undefined ? [] : [`answered by the proxy: ${reason}`]),
  ];
}

function predictionOf(outcome: Outcome, { route, reason }: TraceReport): Prediction {
  const decision = settledDecision(outcome.decision);
  // A filter of the listener denies requests before they are routed.
  const isDenied = outcome.filters.length > 0 && route === undefined && reason === 'authorization-denied';
  const taken = 'taken' in decision && !isDenied ? decision.taken.matched : undefined;
  const reasons: readonly (string | undefined)[] =
    decision.type === 'answer'
      ? [decision.reason]
      : outcome.shares.map(({ result }) => (result.type === 'answer' ? result.reason : undefined));
  return {
    listener: outcome.listener?.key,
    route: taken?.route.key.replace(/^route\//, ''),
    routeGeneration: taken?.route.generation,
    rule: taken?.rule.index,
    match: taken?.match.index,
    backends: outcome.shares.length === 0 ? [undefined] : outcome.shares.map(({ backend }) => backend?.label),
    reasons: reasons.length === 0 ? [undefined] : reasons,
    authorizes: outcome.authorization !== undefined || outcome.filters.length > 0,
  };
}

function connectionPredictionOf({ listener, decision }: Layer4Outcome): Prediction {
  const route = 'route' in decision ? decision.route : undefined;
  const shares = decision.type === 'forward' ? decision.shares : [];
  const whole = decision.type === 'close' ? decision.reason : undefined;
  return {
    listener: listener?.key,
    route: route && `${route.routeKind}/${route.route}`,
    routeGeneration: route?.generation,
    rule: route && 0,
    match: undefined,
    backends: shares.length === 0 ? [undefined] : shares.map(sentTo),
    reasons:
      shares.length === 0 ? [whole] : shares.map(({ result }) => (result.type === 'close' ? result.reason : undefined)),
    authorizes: false,
  };
}

function sentTo({ backend, result }: Layer4Share): string | undefined {
  return result.type === 'send' && backend?.target.type === 'endpoints'
    ? endpointsLabel(backend.target.key)
    : undefined;
}

function different(
  name: string,
  predicted: string | number | undefined,
  actual: string | number | undefined,
): readonly string[] {
  return predicted === actual
    ? []
    : [`${name} ${actual ?? 'none'}, predicted ${predicted === undefined || predicted === '' ? 'none' : predicted}`];
}
