import { quote } from '../text/display.ts';
import { isGrpc } from '../text/grpc.ts';
import { hostnameMatches } from '../text/hostname.ts';
import { hasPathPrefix } from '../text/path.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { MatchAllowance } from './match-allowance.ts';
import type { NamedMatch, RouteConfig, RouteMatch } from './config.ts';

/** The parts of a request that routing uses. */
export interface RouteRequest {
  /** Lower case, without port and trailing dot. */
  readonly host: string;
  /** Normalized, without query. */
  readonly path: string;
  readonly method: string;
  /** The value of a header by its lower-case name. Repeated fields are joined according to RFC 9110 §5.3. */
  header(lowerName: string): string | undefined;
  /** The first value of a query parameter, decoded. */
  query(name: string): string | undefined;
}

/** One requirement of a match. */
export interface MatchCondition {
  /** @throws MatchTooCostly if the allowance is exceeded */
  holds(request: RouteRequest, allowance: MatchAllowance): boolean;
  /** The reason why it does not hold, for people. */
  otherwise(request: RouteRequest): string;
}

/** All conditions of a match in a route with this protocol. Compiles regular expressions. */
export function matchConditionsOf(match: RouteMatch, protocol: RouteConfig['protocol']): readonly MatchCondition[] {
  return [
    ...(protocol === 'grpc' ? [grpcCondition] : []),
    pathCondition(match.path),
    ...(match.method === undefined ? [] : [methodCondition(match.method)]),
    ...match.headers.map((header) => namedCondition('header', header, (request) => request.header(header.name))),
    ...match.query.map((parameter) =>
      namedCondition('query parameter', parameter, (request) => request.query(parameter.name)),
    ),
  ];
}

/** The condition that a hostname of the route covers the host of the request; `''` covers every host. */
export function hostnameCondition(hostname: string): MatchCondition {
  return {
    holds: ({ host }) => hostnameMatches(hostname, host),
    otherwise: ({ host }) => `host ${quote(host)} is not covered by ${quote(hostname)}`,
  };
}

const grpcCondition: MatchCondition = {
  holds: (request) => isGrpc(request.header('content-type')),
  otherwise: (request) =>
    describe('header "content-type"', request.header('content-type'), 'which is not that of gRPC'),
};

function pathCondition({ type, value }: RouteMatch['path']): MatchCondition {
  if (type === 'RegularExpression') return expressionCondition('path', value, ({ path }) => path);
  if (type === 'Exact') {
    return {
      holds: ({ path }) => path === value,
      otherwise: ({ path }) => `path ${quote(path)} is not ${quote(value)}`,
    };
  }
  return {
    holds: ({ path }) => hasPathPrefix(path, value),
    otherwise: ({ path }) => `path ${quote(path)} is not below ${quote(value)}`,
  };
}

function methodCondition(method: string): MatchCondition {
  return {
    holds: (request) => request.method === method,
    otherwise: (request) => `method ${quote(request.method)} is not ${quote(method)}`,
  };
}

type Get = (request: RouteRequest) => string | undefined;

function namedCondition(what: string, match: NamedMatch, get: Get): MatchCondition {
  const subject = `${what} ${quote(match.name)}`;
  if (match.type === 'RegularExpression') return expressionCondition(subject, match.value, get);
  return {
    holds: (request) => get(request) === match.value,
    otherwise: (request) => describe(subject, get(request), `not ${quote(match.value)}`),
  };
}

/** The expression must match the whole value, so that an expression without anchors does not match more than intended. */
function expressionCondition(subject: string, text: string, get: Get): MatchCondition {
  const compiled = compilePattern(text);
  if (!compiled.ok) {
    return { holds: () => false, otherwise: () => `the expression for ${subject} is unusable: ${compiled.problem}` };
  }
  return {
    holds: (request, allowance) => {
      const value = get(request);
      return value !== undefined && compiled.pattern.matches(value, allowance);
    },
    otherwise: (request) => describe(subject, get(request), `which the expression ${quote(text)} does not match whole`),
  };
}

function describe(subject: string, value: string | undefined, mismatch: string): string {
  return value === undefined ? `${subject} is absent` : `${subject} is ${quote(value)}, ${mismatch}`;
}
