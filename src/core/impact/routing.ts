import type { Unobserved } from '../graph/observed.ts';
import { endpointsLabel } from '../graph/backends/endpoints-key.ts';
import type { ConfigKey, ConfigResource, Session } from '../routing/config.ts';
import {
  PreparedOutcomes,
  settledDecision,
  type AuthorizationOutcome,
  type BackendShare,
  type RoutedOutcome,
} from '../routing/decision/outcome.ts';
import { PreparedConnections, type Layer4Share, type RoutedConnection } from '../routing/decision/layer4-outcome.ts';
import { effectOf, type Effect } from './effect.ts';
import { examplesOf, maxComparisons, nameOf, urlOf, type Placed } from './examples.ts';

/** A change of the routing of requests or connections, shown by an example. */
export interface RoutingChange {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
  /** The example: method, URL and headers. For a connection, only its URL. */
  readonly request: string;
  /** The requests that the example stands for: `shop.example.com/cart`, `POST *.example.com/`. For a connection, its URL. */
  readonly place: string;
  readonly before: RoutedSummary;
  readonly after: RoutedSummary;
  readonly effect: Effect;
}

/** The outcome of a request. */
export interface RoutedSummary {
  /** `HTTPRoute shop/store rule 0 match 1`; `undefined` if no route matches. */
  readonly rule: string | undefined;
  /**
   * The name of the decision: `forward`, `redirect`, `answer` and so on; `none` if the Gateway has no such listener. For a
   * connection: `connect`, `close`, or `requests` if an HTTPS listener accepts it.
   */
  readonly decision: string;
  /** `namespace/service/port` of the authorization servers of the listener that must allow the request first, in order. */
  readonly filters?: readonly string[];
  /** `namespace/service/port` of the authorization server of the rule that must allow the request. */
  readonly authorization?: string;
  /** The reason of an error response. */
  readonly reason?: string;
  /** Objects that are not observed: it is unknown whether an authorization server can be called. */
  readonly unobserved?: Unobserved;
  readonly location?: string;
  /** The shares of the backends. */
  readonly shares: readonly ShareSummary[];
}

export interface ShareSummary {
  readonly weight: number;
  readonly total: number;
  /** `namespace/service/port`; `undefined` if the share has no backend. */
  readonly backend: string | undefined;
  /** The reason of the error response for this share; absent if a backend receives it. */
  readonly reason?: string;
  /** Objects that are not observed: it is unknown whether a backend receives the share. */
  readonly unobserved?: Unobserved;
  /** Host, path and query that the backend receives. */
  readonly target?: string;
  /** Keeps a client at one endpoint of the backend. */
  readonly session?: Session;
}

/**
 * Compares the routing of requests before and after a change, by one example for every match that the change can affect. Each
 * one is compared at all Gateways, or only at those of its match if there are very many combinations.
 *
 * @returns the changes, and whether not everything was compared
 */
export function compareRouting(
  before: ReadonlyMap<ConfigKey, ConfigResource>,
  after: ReadonlyMap<ConfigKey, ConfigResource>,
): { readonly changes: readonly RoutingChange[]; readonly incomplete: boolean } {
  const { requests, connections, incomplete } = examplesOf(before, after);
  const [former, present] = [new PreparedOutcomes(before.values()), new PreparedOutcomes(after.values())];
  const [formerly, presently] = [new PreparedConnections(before.values()), new PreparedConnections(after.values())];
  const all = [...new Set([...former.gateways(), ...present.gateways()])].sort();
  const isEverywhere = (requests.length + connections.length) * all.length <= maxComparisons;
  const gatewaysFor = ({ gateways }: Placed<unknown>): readonly string[] => (isEverywhere ? all : [...gateways].sort());
  const ofRequests = requests.flatMap((placed) => {
    const { example } = placed;
    const named = { request: nameOf(example), place: example.place };
    return gatewaysFor(placed).flatMap((gateway) => {
      const [was, is] = [former.at(gateway, example.request), present.at(gateway, example.request)];
      return changeOf({ gateway, ...named }, was && requestOutcome(was), is && requestOutcome(is));
    });
  });
  const ofConnections = connections.flatMap((placed) =>
    gatewaysFor(placed).flatMap((gateway) => {
      const url = urlOf(placed.example, gateway);
      const [was, is] = [formerly.at(gateway, placed.example), presently.at(gateway, placed.example)];
      const compared = { gateway, request: url, place: url };
      return changeOf(compared, was && connectionOutcome(was), is && connectionOutcome(is));
    }),
  );
  return { changes: [...ofRequests, ...ofConnections], incomplete: incomplete || !isEverywhere };
}

/** The outcome of an example at a Gateway. */
interface ExampleOutcome {
  /** `undefined`: unknown. */
  readonly works: boolean | undefined;
  readonly summary: RoutedSummary;
}

const noListener: ExampleOutcome = { works: false, summary: { rule: undefined, decision: 'none', shares: [] } };

function changeOf(
  compared: Pick<RoutingChange, 'gateway' | 'request' | 'place'>,
  was = noListener,
  is = noListener,
): readonly RoutingChange[] {
  if (JSON.stringify(was.summary) === JSON.stringify(is.summary)) return [];
  return [{ ...compared, before: was.summary, after: is.summary, effect: effectOf(was.works, is.works) }];
}

function requestOutcome(outcome: RoutedOutcome): ExampleOutcome {
  return { works: worksOf(outcome), summary: summaryOf(outcome) };
}

/** Whether requests are served, as far as that is known; `undefined` if nothing is known. */
function worksOf(outcome: RoutedOutcome): boolean | undefined {
  const { decision, shares } = outcome;
  const authorizations = serversOf(outcome).map(({ result }) => result);
  if (decision.type === 'answer' || authorizations.some(({ type }) => type === 'answer')) return false;
  return authorizations.some(({ type }) => type === 'unknown') ? undefined : workOf(shares.map(({ result }) => result));
}

/** Shares about which nothing is known count only if there are no others. */
function workOf(results: readonly { readonly type: string }[]): boolean | undefined {
  const known = results.filter(({ type }) => type !== 'unknown');
  return known.length === 0 && results.length > 0 ? undefined : known.every(({ type }) => type === 'send');
}

function serversOf({ filters, authorization }: RoutedOutcome): readonly AuthorizationOutcome[] {
  return authorization === undefined ? filters : [...filters, authorization];
}

function connectionOutcome(outcome: RoutedConnection): ExampleOutcome {
  const { decision } = outcome;
  return {
    works: decision.type === 'forward' && workOf(decision.shares.map(({ result }) => result)),
    summary: {
      rule: 'route' in decision ? `${decision.route.routeKind} ${decision.route.route}` : undefined,
      decision: decision.type === 'forward' ? 'connect' : decision.type,
      ...('reason' in decision ? { reason: decision.reason } : {}),
      shares: 'shares' in decision ? decision.shares.map(connectionShare) : [],
    },
  };
}

function connectionShare({ weight, total, backend, result }: Layer4Share): ShareSummary {
  const named = {
    weight,
    total,
    backend: backend?.target.type === 'endpoints' ? endpointsLabel(backend.target.key) : undefined,
  };
  if (result.type === 'unknown') return { ...named, unobserved: result.unobserved };
  return result.type === 'close' ? { ...named, reason: result.reason } : named;
}

function summaryOf(outcome: RoutedOutcome): RoutedSummary {
  const { filters, authorization, shares } = outcome;
  const decision = settledDecision(outcome.decision);
  return {
    rule: 'taken' in decision ? ruleName(decision.taken.matched) : undefined,
    decision: decision.type,
    ...(filters.length === 0 ? {} : { filters: filters.map((filter) => filter.authorization.label) }),
    ...(authorization === undefined ? {} : { authorization: authorization.authorization.label }),
    ...reasonOf(outcome, decision),
    ...('location' in decision ? { location: decision.location } : {}),
    shares: shares.map(shareOf),
  };
}

/** The first error response on the way of a request. */
function reasonOf(
  outcome: RoutedOutcome,
  decision: ReturnType<typeof settledDecision>,
): Pick<RoutedSummary, 'reason' | 'unobserved'> {
  for (const { result } of serversOf(outcome)) {
    if (result.type === 'unknown') return { unobserved: result.unobserved };
    if (result.type === 'answer') return { reason: result.reason };
  }
  return 'reason' in decision ? { reason: decision.reason } : {};
}

function ruleName({
  route,
  rule,
  match,
}: {
  readonly route: { readonly route: string; readonly protocol?: 'grpc' };
  readonly rule: { readonly index: number };
  readonly match: { readonly index: number };
}): string {
  return `${route.protocol === 'grpc' ? 'GRPCRoute' : 'HTTPRoute'} ${route.route} rule ${rule.index} match ${match.index}`;
}

function shareOf({ weight, total, backend, result }: BackendShare): ShareSummary {
  const named = { weight, total, backend: backend?.label };
  if (result.type === 'unknown') return { ...named, unobserved: result.unobserved };
  if (result.type === 'answer') return { ...named, reason: result.reason };
  const sent = { ...named, target: `${result.host}${result.target}` };
  return backend?.session === undefined ? sent : { ...sent, session: backend.session };
}
