import { backends, type RuleBackends } from '../graph/backends/backends.ts';
import { readObject } from '../graph/inputs.ts';
import { routeIdentity } from '../graph/matches/precedence.ts';
import type { RequestRouteKind } from '../graph/protocols.ts';
import type { RouteRuleView } from '../graph/route-views.ts';
import type { Reader } from '../incremental/reader.ts';
import { isUnservable } from '../rules/matches/match-places.ts';
import { servedMatches } from '../rules/matches/served-matches.ts';
import { backendProblem, partProblems, routeValidity } from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { millisecondsOf } from '../text/duration.ts';
import { compileAttachments } from './compile-attachments.ts';
import { compileBackendTarget } from './backend-target.ts';
import { compileBackendFilters, compileFilters } from './compile-filters.ts';
import { backendSession, compileSession } from './compile-session.ts';
import type { Retry, RouteBackend, RouteConfig, RouteMatch, RouteRule } from './config.ts';
import { retryAttempts, servedWeight } from '../semantics/intended.ts';

/** Compiles a route for data planes. Yields nothing if it is not attached or not accepted. */
export function* compileRoute(read: Reader, kind: string, namespace: string, name: string): Iterable<RouteConfig> {
  const attachments = compileAttachments(read, kind, namespace, name);
  const route = readObject(read, kind as RequestRouteKind, namespace, name);
  if (attachments.length === 0 || route === undefined) return;
  const problems = read.query(partProblems, kind, namespace, name);
  if (isUnservable(problems)) return;

  const { failedRules } = read.query(routeValidity, kind, namespace, name);
  const nodes = read.query(backends, kind, namespace, name);
  const matches = servedMatches(route, problems);
  const rules = (route.spec?.rules ?? []).map((rule, index) =>
    compileRule(read, rule, {
      index,
      identity: `${kind}/${namespace}/${name} ${rule.name ?? index}`,
      matches: matches[index] ?? [],
      failure: failedRules[index]?.message,
      problems: problems.filter((problem) => problem.part === index),
      backends: nodes[index] ?? { backends: [], mirrors: {}, authorizers: {} },
    }),
  );
  yield {
    kind: 'route',
    ...routeIdentity(route),
    attachments,
    rules,
    generation: route.meta.generation,
  };
}

/** The fields common to rules of all kinds; HTTPRoute rules have the most. */
type RuleView = Omit<RouteRuleView<'HTTPRoute'>, 'matches'>;

interface RuleContext {
  readonly index: number;
  /** Identifies the rule among all rules: by name, or by position. */
  readonly identity: string;
  readonly matches: readonly RouteMatch[];
  readonly failure: string | undefined;
  readonly problems: readonly PartProblem[];
  readonly backends: RuleBackends;
}

function compileRule(read: Reader, rule: RuleView, context: RuleContext): RouteRule {
  const { index, matches, failure } = context;
  const requestTimeout = millisecondsOf(rule.timeouts?.request);
  const backendRequestTimeout = millisecondsOf(rule.timeouts?.backendRequest);
  const retry = failure === undefined ? compileRetry(rule.retry) : undefined;
  const session =
    failure === undefined ? compileSession(rule.sessionPersistence, { identity: context.identity }) : undefined;
  return {
    index,
    ...(rule.name === undefined ? {} : { name: rule.name }),
    matches,
    ...(failure === undefined ? {} : { failure }),
    filters:
      failure === undefined
        ? compileFilters(rule.filters, { ...context.backends.mirrors, ...context.backends.authorizers })
        : [],
    backends:
      failure === undefined
        ? context.backends.backends.map((node, backend) => compileBackend(read, rule, node, { ...context, backend }))
        : [],
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
    ...(backendRequestTimeout === undefined ? {} : { backendRequestTimeout }),
    ...(retry === undefined ? {} : { retry }),
    ...(session === undefined ? {} : { session }),
  };
}

/** If `retry` is set, `attempts` defaults to 1 (HTTPRouteRetry). */
function compileRetry(view: RuleView['retry']): Retry | undefined {
  if (view === undefined) return undefined;
  const backoff = millisecondsOf(view.backoff);
  return {
    codes: view.codes ?? [],
    attempts: retryAttempts(view),
    ...(backoff === undefined ? {} : { backoff }),
  };
}

function compileBackend(
  read: Reader,
  rule: RuleView,
  node: RuleBackends['backends'][number],
  context: RuleContext & { readonly backend: number },
): RouteBackend {
  const view = rule.backendRefs?.[context.backend];
  const weight = servedWeight(view);
  const problem = backendProblem(context.problems, context.backend);
  const target = compileBackendTarget(node.outcome, problem);
  const session =
    target.type === 'endpoints' && node.outcome.type === 'service' && rule.sessionPersistence === undefined
      ? backendSession(read, node.outcome, context.identity)
      : undefined;
  return {
    weight,
    target,
    filters: problem === undefined ? compileBackendFilters(view?.filters, node.mirrors) : [],
    ...(session === undefined ? {} : { session }),
  };
}
