import { endpointsLabel } from '../../../core/graph/backends/endpoints-key.ts';
import { destinationsOf } from '../../../core/routing/config.ts';
import type {
  HeaderFilter,
  MatchedRoute,
  NamedValue,
  RetryBudget,
  RouteFilter,
  Session,
} from '../../../core/routing/config.ts';
import type { Decision } from '../../../core/routing/decision/decide.ts';
import type {
  AuthorizationOutcome,
  BackendShare,
  MirrorShare,
  Outcome,
} from '../../../core/routing/decision/outcome.ts';
import type { PreparedRule } from '../../../core/routing/decision/prepared-rule.ts';
import { answerFor, type AnswerReason } from '../../../proxy/messages/reasons.ts';
import { listenerText, type Explanation } from './explanation.ts';
import { formatDuration } from '../../../core/text/duration.ts';
import { unobservedText } from '../unobserved.ts';

/**
 * How a Gateway handles a request, in words.
 *
 * @param unseenRoutes sentences about routes that are not observed and may match, instead of a response that no route matches
 */
export function explainOutcome(outcome: Outcome, unobservedRoutes: readonly string[] = []): Explanation {
  const { gateway, listener, decision, filters, authorization, shares, candidates } = outcome;
  const plain = (other: PlainDecision): readonly string[] =>
    unobservedRoutes.length > 0 ? unobservedRoutes : [plainDecision(other)];
  const ofHost = candidates.filter(({ coversHost }) => coversHost);
  const first = ofHost.findIndex(({ unmet }) => unmet.length === 0);
  const tried = first === -1 ? ofHost : ofHost.slice(0, first + 1);
  return {
    gateway,
    listener: listener && listenerText(listener),
    chosen: 'taken' in decision ? nameOf(decision.taken.matched) : undefined,
    lines: [
      ...[...filters, ...(authorization === undefined ? [] : [authorization])].map(authorizationText),
      ...('taken' in decision ? decisionLines(decision, shares) : plain(decision)),
      ...(listener?.failure === undefined ? [] : [listener.failure]),
    ],
    candidates: tried.map(({ candidate, unmet }) => ({
      name: nameOf(candidate),
      remark: unmet.length === 0 ? 'matches' : unmet.join('; '),
    })),
    others: candidates.length - ofHost.length,
  };
}

function nameOf({ route, rule, match }: MatchedRoute): string {
  return `${route.protocol === 'grpc' ? 'GRPCRoute ' : ''}${route.route} rule ${rule.index}${rule.name === undefined ? '' : ` (${rule.name})`} match ${match.index}`;
}

type PlainDecision = Exclude<Outcome['decision'], { readonly taken: unknown }>;

function plainDecision(decision: PlainDecision): string {
  return decision.type === 'acknowledge' ? 'The proxy answers 204 itself.' : `Answers ${answerText(decision.reason)}`;
}

function answerText(reason: AnswerReason): string {
  const { status, text } = answerFor(reason);
  return `${status}: ${text}`;
}

function decisionLines(
  decision: Extract<Decision<PreparedRule>, { readonly taken: unknown }>,
  shares: readonly BackendShare[],
): readonly string[] {
  const { matched, rule } = decision.taken;
  switch (decision.type) {
    case 'answer':
      return [`answers ${errorOf(matched, 500)}: ${rule.failure}`];
    case 'preflight':
      return ['answers the CORS preflight with 204', ...pairsOf(decision.fields)];
    case 'authorize':
      return decisionLines(decision.permitted, shares);
    case 'redirect':
      return [`redirects with ${decision.status} to ${decision.location}`, ...filterLines(matched.rule.filters)];
    case 'forward':
      return [
        ...filterLines(matched.rule.filters),
        ...shares.flatMap((share) => shareLines(share, matched)),
        ...limitLines(rule),
      ];
  }
}

function authorizationText({ authorization: { label, protocol, maxBody }, result }: AuthorizationOutcome): string {
  if (result.type === 'answer') {
    const { status, text } = answerFor(result.reason);
    return `answers ${status}: ${result.detail ?? text}`;
  }
  if (result.type === 'unknown') return `authorization unknown: ${unobservedText(result.unobserved)}`;
  const { endpoints, target } = result;
  const addresses = destinationsOf(endpoints).join(', ');
  const body = maxBody === 0 ? '' : ` with a body of at most ${maxBody} bytes`;
  return `authorized first by ${label} (${protocol === 'grpc' ? 'gRPC' : 'HTTP'}): ${addresses}${endpoints.tls === undefined ? '' : ' over TLS'}, as ${target}${body}`;
}

/** gRPC clients get a gRPC status instead of an HTTP status. */
function errorOf({ route }: MatchedRoute, status: number): string {
  return route.protocol === 'grpc' ? 'UNAVAILABLE' : String(status);
}

function pairsOf(fields: readonly string[]): readonly string[] {
  return fields.flatMap((name, position) => (position % 2 === 0 ? [`  ${name}: ${fields[position + 1]}`] : []));
}

function shareLines({ weight, total, backend, result }: BackendShare, matched: MatchedRoute): readonly string[] {
  const share = `${weight} of ${total}`;
  if (result.type === 'unknown') return [`${share} unknown${labelOf(backend)}: ${unobservedText(result.unobserved)}`];
  if (result.type === 'answer') {
    const { status, text } = answerFor(result.reason);
    return [`${share} answered ${errorOf(matched, status)}${labelOf(backend)}: ${result.detail ?? text}`];
  }
  const { endpoints, target, host, mirrors } = result;
  const own =
    backend === undefined
      ? []
      : matched.rule.backends
          .filter(({ target: to }) => to.type === 'endpoints' && to.key === backend.endpoints)
          .flatMap(({ filters }) => filterLines(filters));
  return [
    `${share} to ${backend?.label}: ${destinationsOf(endpoints).join(', ')}${endpoints.tls === undefined ? '' : ' over TLS'}`,
    `  as ${host}${target}`,
    ...own.map((line) => `  ${line}`),
    ...(endpoints.retryBudget === undefined ? [] : [`  ${budgetText(endpoints.retryBudget)}`]),
    ...(backend?.session === undefined || backend.session === matched.rule.session
      ? []
      : [`  ${sessionText(backend.session)}`]),
    ...mirrors.map((mirror) => `  ${mirrorText(mirror)}`),
  ];
}

function labelOf(backend: BackendShare['backend']): string {
  return backend?.endpoints === undefined ? '' : ` (${backend.label})`;
}

function mirrorText({ mirror: { numerator, denominator, target }, endpoints }: MirrorShare): string {
  if (target.type === 'invalid' && target.unobserved !== undefined)
    return `mirror unknown: ${unobservedText(target.unobserved)}`;
  const to = target.type === 'endpoints' ? endpointsLabel(target.key) : 'invalid';
  const problem = target.type === 'invalid' ? target.reason : 'no usable endpoints';
  return endpoints === undefined
    ? `mirror to ${to} ignored: ${problem}`
    : `mirrors ${numerator} of ${denominator} requests to ${to}`;
}

function limitLines({ requestTimeout, backendRequestTimeout, retry, session }: PreparedRule): readonly string[] {
  return [
    ...(requestTimeout > 0 ? [`request timeout ${durationText(requestTimeout)}`] : []),
    ...(backendRequestTimeout > 0 ? [`backend request timeout ${durationText(backendRequestTimeout)}`] : []),
    ...(retry === undefined ? [] : [retryText(retry)]),
    ...(session === undefined ? [] : [sessionText(session)]),
  ];
}

function retryText({ attempts, codes, backoff }: NonNullable<PreparedRule['retry']>): string {
  const on = codes.length === 0 ? 'failed connections' : `failed connections and status ${codes.join(', ')}`;
  return `retries ${attempts} times on ${on}${backoff === undefined ? '' : `, backoff ${durationText(backoff)}`}`;
}

function budgetText({ percent, interval, minimum }: RetryBudget): string {
  return `limits retries to ${percent}% of the requests of ${durationText(interval)}, but permits ${minimum.count} per ${durationText(minimum.interval)}`;
}

/** Milliseconds as users write them. */
function durationText(milliseconds: number): string {
  const written = formatDuration(milliseconds);
  return written.ok ? written.text : `${milliseconds} ms`;
}

/** Session persistence in words. */
export function sessionText(session: Session): string {
  const { name, absoluteTimeout, idleTimeout } = session;
  const means =
    session.type === 'header'
      ? `header ${name}`
      : `${session.permanent ? 'permanent ' : ''}cookie ${name} with path ${session.path}`;
  const ends = [
    ...(absoluteTimeout === undefined ? [] : [`after ${durationText(absoluteTimeout)}`]),
    ...(idleTimeout === undefined ? [] : [`after ${durationText(idleTimeout)} without a request`]),
  ];
  return `keeps clients at their endpoint of each backend by ${means}${ends.length === 0 ? '' : `, ends ${ends.join(' or ')}`}`;
}

/** Filters of a rule or of a backend. Mirrors are left out, because they are listed with the backends. */
function filterLines(filters: readonly RouteFilter[]): readonly string[] {
  return filters.flatMap((filter) => {
    switch (filter.type) {
      case 'cors':
        return [`CORS: allows ${filter.allowOrigins.join(', ') || 'no other origin'}`];
      case 'requestHeaders':
      case 'responseHeaders':
        return [`${filter.type === 'requestHeaders' ? 'request' : 'response'} header: ${headersText(filter)}`];
      case 'redirect':
      case 'rewrite':
      case 'mirror':
      case 'authorization':
        return [];
    }
  });
}

function headersText({ set, add, remove }: HeaderFilter): string {
  const named = (values: readonly NamedValue[]): string =>
    values.map(({ name, value }) => `${name}: ${value}`).join(', ');
  const parts = [
    ['sets', named(set)],
    ['adds', named(add)],
    ['removes', remove.join(', ')],
  ].filter(([, text]) => text !== '');
  return parts.map((part) => part.join(' ')).join('; ');
}
