import type { ConfigKey, ConfigResource } from '../routing/config.ts';
import { isServed, PreparedOutcomes, settledDecision, type BackendShare, type RoutedOutcome } from '../routing/decision/outcome.ts';
import { effectOf, type Effect } from './effect.ts';
import { examplesOf, nameOf } from './examples.ts';

/** Requests that a change routes differently, by an example. */
export interface RoutingChange {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
  /** The example: method, URL and headers. */
  readonly request: string;
  readonly before: RoutedSummary;
  readonly after: RoutedSummary;
  readonly effect: Effect;
}

/** What becomes of a request. */
export interface RoutedSummary {
  /** `HTTPRoute shop/store rule 0 match 1`; `undefined` where no route matches. */
  readonly rule: string | undefined;
  /** The name of the decision: `forward`, `redirect`, `answer` and so on; `none` where the Gateway has no such listener. */
  readonly decision: string;
  /** `namespace/service/port` of the authorization server that has to permit the request first. */
  readonly authorization?: string;
  /** The reason of an answer with an error. */
  readonly reason?: string;
  readonly location?: string;
  /** How requests are divided. */
  readonly shares: readonly ShareSummary[];
}

export interface ShareSummary {
  readonly weight: number;
  readonly total: number;
  /** `namespace/service/port`; `undefined` where there is none. */
  readonly backend: string | undefined;
  /** The reason of the error that this share gets; absent where a backend gets it. */
  readonly reason?: string;
  /** Host, path and query that the backend gets. */
  readonly target?: string;
}

/**
 * Compares where requests go before and after a change, by one example for every match that the change can affect.
 *
 * @returns the changes, and whether there were more matches than could be compared
 */
export function compareRouting(before: ReadonlyMap<ConfigKey, ConfigResource>, after: ReadonlyMap<ConfigKey, ConfigResource>): { readonly changes: readonly RoutingChange[]; readonly incomplete: boolean } {
  const { examples, incomplete } = examplesOf(before, after);
  const [former, present] = [new PreparedOutcomes(before.values()), new PreparedOutcomes(after.values())];
  const changes = examples.flatMap((example) => {
    const was = byGateway(former.of(example.request));
    const is = byGateway(present.of(example.request));
    return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((gateway): readonly RoutingChange[] => {
      const [one, other] = [was.get(gateway), is.get(gateway)];
      const [earlier, later] = [summaryOf(one), summaryOf(other)];
      if (JSON.stringify(earlier) === JSON.stringify(later)) return [];
      return [{ gateway, request: nameOf(example), before: earlier, after: later, effect: effectOf(works(one), works(other)) }];
    });
  });
  return { changes, incomplete };
}

function byGateway(outcomes: readonly RoutedOutcome[]): ReadonlyMap<string, RoutedOutcome> {
  return new Map(outcomes.map((outcome) => [outcome.gateway, outcome]));
}

function works(outcome: RoutedOutcome | undefined): boolean {
  return outcome !== undefined && isServed(outcome);
}

function summaryOf(outcome: RoutedOutcome | undefined): RoutedSummary {
  if (outcome === undefined) return { rule: undefined, decision: 'none', shares: [] };
  const { authorization, shares } = outcome;
  const decision = settledDecision(outcome.decision);
  return {
    rule: 'taken' in decision ? ruleName(decision.taken.matched) : undefined,
    decision: decision.type,
    ...(authorization === undefined ? {} : { authorization: authorization.authorization.label }),
    ...('reason' in decision ? { reason: decision.reason } : {}),
    ...('location' in decision ? { location: decision.location } : {}),
    shares: shares.map(shareOf),
  };
}

function ruleName({ route, rule, match }: { readonly route: { readonly route: string; readonly protocol?: 'grpc' }; readonly rule: { readonly index: number }; readonly match: { readonly index: number } }): string {
  return `${route.protocol === 'grpc' ? 'GRPCRoute' : 'HTTPRoute'} ${route.route} rule ${rule.index} match ${match.index}`;
}

function shareOf({ weight, total, backend, result }: BackendShare): ShareSummary {
  const named = { weight, total, backend: backend?.label };
  return result.type === 'answer' ? { ...named, reason: result.reason } : { ...named, target: `${result.host}${result.target}` };
}
