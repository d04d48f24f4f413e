import { canonicalSpelling } from '../../text/path.ts';
import { compileHeaders } from './compile-matches.ts';
import type { RouteMatch } from './route-match.ts';
import type { MatchView } from '../route-views.ts';
import { matchTypeOf } from '../../semantics/intended.ts';

/** Without matches, a rule matches every gRPC request (GRPCRouteRule.matches). */
const everyCall: RouteMatch = {
  index: 0,
  path: { type: 'PathPrefix', value: '/' },
  headers: [],
  query: [],
  call: { service: 0, method: 0 },
};

/**
 * Compiles the matches of a GRPCRoute rule for a data plane. Matches for which `isInvalid` returns true are left out, so they
 * match nothing. A call of `method` of `service` is a request for the path `/service/method` (gRPC over HTTP/2, "Requests").
 */
export function compileCalls(
  matches: readonly MatchView<'GRPCRoute'>[] | undefined,
  isInvalid: (index: number) => boolean,
): readonly RouteMatch[] {
  const all = matches === undefined || matches.length === 0 ? [everyCall] : matches.map(compileCall);
  return all.filter(({ index }) => !isInvalid(index));
}

/** Compiles a match of a GRPCRoute at a position of its rule, valid or not. */
export function compileCall({ method: call, headers }: MatchView<'GRPCRoute'>, index: number): RouteMatch {
  const { service = '', method = '' } = call ?? {};
  return {
    index,
    path: matchTypeOf(call) === 'RegularExpression' ? expressionPath(service, method) : exactPath(service, method),
    headers: compileHeaders(headers),
    query: [],
    call: { service: service.length, method: method.length },
  };
}

const anyName = '[^/]+';

/**
 * Returns the regular expression for paths that corresponds to expressions for service and method. An empty expression matches
 * any name.
 */
export function callExpression(service: string, method: string): string {
  return `/(?:${service === '' ? anyName : service})/(?:${method === '' ? anyName : method})`;
}

function expressionPath(service: string, method: string): RouteMatch['path'] {
  return { type: 'RegularExpression', value: callExpression(service, method) };
}

function exactPath(service: string, method: string): RouteMatch['path'] {
  if (service === '' && method !== '') return expressionPath('', method.replace(/[^A-Za-z0-9_]/g, String.raw`\$&`));
  return {
    type: method === '' ? 'PathPrefix' : 'Exact',
    value: canonicalSpelling(method === '' ? `/${service}` : `/${service}/${method}`),
  };
}
