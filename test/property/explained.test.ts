import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type {
  BackendTarget,
  ConfigResource,
  RouteBackend,
  RouteConfig,
  RouteFilter,
} from '../../src/core/routing/config.ts';
import {
  outcomesOf,
  settledDecision,
  type BackendShare,
  type Outcome,
} from '../../src/core/routing/decision/outcome.ts';
import { defaultLimits } from '../../src/proxy/limits/limits.ts';
import { answerFor } from '../../src/proxy/messages/reasons.ts';
import { readHttp1Head } from '../../src/proxy/messages/request-head.ts';
import { closeBackends, startBackend, startEcho, type Backend, type Echo } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { closeProxies, fieldValues, send, startProxy, web, type ProxyUnderTest } from '../support/proxy.ts';
import { routeConfig, routeMatch, routeRule } from '../support/routes.ts';

// The live proxy does what `explain` reports, for random configurations and requests.

const path = fc.constantFrom('/', '/a', '/a/b', '/%61', '/a/', '/b');
const target: fc.Arbitrary<BackendTarget> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom('one', 'two', 'empty', 'failing')
      .map((service) => ({ type: 'endpoints' as const, key: endpointsConfig(service).key })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'invalid' as const, reason: 'BackendNotFound' }) },
);
const mirrored = fc
  .constantFrom('copies', 'empty')
  .map((service) => ({ type: 'endpoints' as const, key: endpointsConfig(service).key }));
const modifier = fc.record({
  type: fc.constantFrom('full' as const, 'prefix' as const),
  value: fc.constantFrom('/new', '/', '/ä'),
});
const someHost = fc.constantFrom('other.example.com', 'www.example.com');
const headers = (type: 'requestHeaders' | 'responseHeaders') =>
  fc.record({
    type: fc.constant(type),
    set: fc.constant([{ name: 'x-set', value: type }]),
    add: fc.constant([]),
    remove: fc.constant(['x-version']),
  });
const rewrite = fc.record(
  { type: fc.constant('rewrite' as const), hostname: someHost, path: modifier },
  { requiredKeys: ['type'] },
);
const mirror = fc.record({
  type: fc.constant('mirror' as const),
  target: mirrored,
  numerator: fc.constant(1),
  denominator: fc.constant(1),
});
const redirect = fc.record(
  {
    type: fc.constant('redirect' as const),
    statusCode: fc.constantFrom(301, 302),
    hostname: someHost,
    path: modifier,
    scheme: fc.constantFrom('http', 'https'),
    port: fc.constantFrom(80, 8443),
  },
  { requiredKeys: ['type', 'statusCode'] },
);
const cors = fc.record({
  type: fc.constant('cors' as const),
  allowOrigins: fc.constantFrom(['*'], ['https://shop.example.com'], []),
  allowCredentials: fc.boolean(),
  allowMethods: fc.constant(['GET']),
  allowHeaders: fc.constant([]),
  exposeHeaders: fc.constant([]),
  maxAge: fc.constant(5),
});
const authorization = fc.record({
  type: fc.constant('authorization' as const),
  target: fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .constantFrom('permitting', 'denying', 'empty', 'failing')
        .map((service) => ({ type: 'endpoints' as const, key: endpointsConfig(service).key })),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'invalid' as const, reason: 'absent' }) },
  ),
  protocol: fc.constant('http' as const),
  requestHeaders: fc.constant([]),
  responseHeaders: fc.constantFrom([], ['x-version']),
  path: fc.constantFrom('', '/check', 'check/'),
  maxBody: fc.constantFrom(0, 10),
});
/** `null` so many times in ten, otherwise a value. */
function absent<T>(weight: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 10 - weight, arbitrary: value });
}

const some = (filter: fc.Arbitrary<unknown>, weight = 7) => absent(weight, filter as fc.Arbitrary<RouteFilter>);
const filters: fc.Arbitrary<readonly RouteFilter[]> = fc
  .tuple(
    some(headers('requestHeaders')),
    some(headers('responseHeaders')),
    some(rewrite),
    some(mirror),
    some(cors),
    some(redirect, 9),
    some(authorization),
  )
  .map((all) => all.filter((filter) => filter !== null));
const backend: fc.Arbitrary<RouteBackend> = fc.record({
  weight: fc.nat(2),
  target,
  filters: fc.oneof(
    fc.constant([]),
    headers('requestHeaders').map((filter) => [filter]),
  ),
});
const match = fc.record({
  path: fc.record({
    type: fc.constantFrom('Exact' as const, 'PathPrefix' as const),
    value: fc.constantFrom('/', '/a', '/a/b'),
  }),
  headers: fc.constantFrom([], [{ name: 'x-version', type: 'Exact' as const, value: 'next' }]),
});
const rule = fc.record({
  match,
  filters,
  backends: fc.array(backend, { maxLength: 3 }),
  failure: absent(9, fc.constant('it is invalid')),
});
const routes: fc.Arbitrary<readonly RouteConfig[]> = fc
  .array(
    fc.record({
      hostname: fc.constantFrom('', '*.example.com', 'www.example.com'),
      rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 3 },
  )
  .map((all) =>
    all.map(({ hostname, rules }, position) =>
      routeConfig(`shop/r${position}`, {
        attachments: [{ listener: web.key, hostnames: [hostname] }],
        rules: rules.map((parts, index) => ({
          ...routeRule(index, routeMatch(parts.match)),
          filters: parts.filters,
          backends: parts.backends,
          ...(parts.failure === null ? {} : { failure: parts.failure }),
        })),
      }),
    ),
  );
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'OPTIONS', 'POST'),
  path,
  search: fc.constantFrom('', '?q=1'),
  host: fc.constantFrom('www.example.com', 'www.example.com:8080', 'shop.example.com', 'localhost'),
  headers: fc.dictionary(
    fc.constantFrom('x-version', 'origin', 'access-control-request-method', 'max-forwards'),
    fc.constantFrom('next', 'https://shop.example.com', 'GET', '0'),
    { maxKeys: 3 },
  ),
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** What the client and the backends see of one request. */
interface Seen {
  readonly status: number;
  readonly location: string | undefined;
  readonly origin: string | undefined;
  readonly backend: string | undefined;
  readonly target: string | undefined;
  readonly host: string | undefined;
}

let endpoints: readonly ConfigResource[] = [];
let proxy: ProxyUnderTest;
let copies = 0;
let reportedCopies = 0;
/** Targets that authorization servers were asked about. */
let asked: string[] = [];

beforeAll(async () => {
  const mirrorBackend: Backend = await startBackend((_request, response) => {
    copies += 1;
    response.end();
  });
  const answering = (status: number): Promise<Backend> =>
    startBackend(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(status).end();
    });
  const [permitting, denying] = [await answering(200), await answering(403)];
  const [one, two] = [await startEcho('one'), await startEcho('two')];
  endpoints = [
    endpointsConfig('permitting', permitting.port),
    endpointsConfig('denying', denying.port),
    endpointsConfig('one', one.port),
    endpointsConfig('two', two.port),
    endpointsConfig('copies', mirrorBackend.port),
    endpointsConfig('empty'),
    { ...endpointsConfig('failing', one.port), failure: 'the BackendTLSPolicy is invalid' },
  ];
});
afterEach(closeProxies);
afterAll(closeBackends);

test('the live proxy does what explain reports', async () => {
  proxy = await startProxy(endpoints);
  let applied: readonly RouteConfig[] = [];
  await fc.assert(
    fc.asyncProperty(routes, fc.array(request, { minLength: 1, maxLength: 4 }), async (config, requests) => {
      await proxy.proxy.apply({ upserts: config, removals: applied.map(({ key }) => key) });
      applied = config;
      for (const sent of requests) {
        const outcome = reported(config, sent);
        const wanted = expected(outcome);
        asked = [];
        const seen: Seen[] = [];
        for (let turn = 0; turn < wanted.length; turn += 1) seen.push(await observed(sent));
        expect(seen.map(text).sort()).toEqual(wanted.map(text).sort());
        expect(asked).toEqual(questionsOf(outcome));
        reportedCopies += permits(outcome) ? outcome.shares.reduce((sum, share) => sum + copiesOf(share), 0) : 0;
        // A copy too many may come late: it fails the next comparison.
        await eventually(() => expect(copies).toBe(reportedCopies));
      }
    }),
    { numRuns: 150 },
  );
}, 120_000);

function reported(
  config: readonly RouteConfig[],
  { method, path: asked, search, host, headers: fields }: Request,
): Outcome {
  const rawHeaders = ['host', host, ...Object.entries(fields).flat()];
  const head = readHttp1Head({ httpVersion: '1.1', method, url: `${asked}${search}`, rawHeaders }, defaultLimits);
  if (typeof head === 'string') throw new Error(head);
  const { path: read, search: query, host: name, authority, remainingHops, hops } = head;
  const arriving = {
    protocol: 'HTTP' as const,
    port: web.port,
    serverName: undefined,
    method,
    path: read,
    search: query,
    host: name,
    authority,
    remainingHops,
    hops,
    header: head.header.bind(head),
    query: head.query.bind(head),
  };
  const [outcome] = outcomesOf([web, ...endpoints, ...config], arriving);
  if (outcome === undefined) throw new Error('no listener found');
  return outcome;
}

const nothing = { location: undefined, origin: undefined, backend: undefined, target: undefined, host: undefined };

/** One entry for each request of a full cycle of the weights. */
function expected(outcome: Outcome): readonly Seen[] {
  const {
    decision: { type },
    authorization: asking,
    shares,
  } = outcome;
  const decision = settledDecision(outcome.decision);
  if (type === 'authorize' && !permits(outcome)) {
    const status = asking?.result.type === 'answer' ? answerFor(asking.result.reason).status : 403;
    const refused = { ...nothing, status };
    // What fails anyway is not asked about.
    return decision.type === 'redirect'
      ? [refused]
      : shares.flatMap((share) =>
          Array.from({ length: share.weight }, () => (share.result.type === 'answer' ? ofShare(share) : refused)),
        );
  }
  switch (decision.type) {
    case 'answer':
      return [{ ...nothing, status: answerFor(decision.reason).status }];
    case 'acknowledge':
      return [{ ...nothing, status: 204 }];
    case 'preflight':
      return [{ ...nothing, status: 204, origin: valueIn(decision.fields, 'access-control-allow-origin') }];
    case 'redirect':
      return [
        {
          ...nothing,
          status: decision.status,
          location: decision.location,
          origin: valueIn(decision.fields, 'access-control-allow-origin'),
        },
      ];
    case 'forward':
      return shares.flatMap((share) => Array.from({ length: share.weight }, () => ofShare(share)));
  }
}

/** Whether requests that have to be permitted are. */
function permits({ authorization: asking }: Outcome): boolean {
  return asking === undefined || (asking.result.type === 'ask' && asking.authorization.label.includes('permitting'));
}

/** What the authorization server gets over a full cycle of the weights. */
function questionsOf({ decision, authorization: asking, shares }: Outcome): readonly string[] {
  if (asking?.result.type !== 'ask') return [];
  const { target: question } = asking.result;
  const isRedirect = settledDecision(decision).type === 'redirect';
  const times = isRedirect
    ? 1
    : shares.reduce((sum, { weight, result }) => sum + (result.type === 'send' ? weight : 0), 0);
  return Array.from({ length: times }, () => question);
}

function ofShare({ result, backend: chosen }: BackendShare): Seen {
  if (result.type === 'answer') return { ...nothing, status: answerFor(result.reason).status };
  if (result.type === 'unknown') throw new Error('everything is observed');
  return { ...nothing, status: 200, backend: chosen?.label.split('/')[1], target: result.target, host: result.host };
}

function copiesOf({ weight, result }: BackendShare): number {
  return result.type === 'send' ? weight * result.mirrors.filter(({ endpoints: to }) => to !== undefined).length : 0;
}

async function observed({ method, path: asked, search, host, headers: fields }: Request): Promise<Seen> {
  const {
    status,
    headers: answer,
    body,
  } = await send(proxy.port, `${asked}${search}`, { method, headers: { ...fields, host } });
  const { location, 'access-control-allow-origin': origin } = answer;
  // CORS filters speak for the answers of authorization servers, too, which explain does not foresee.
  if (status !== 200) return { ...nothing, status, location, origin: status === 403 ? undefined : origin };
  const echo = JSON.parse(body) as Echo;
  return { ...nothing, status, backend: echo.backend, target: echo.target, host: fieldValues(echo, 'host')[0] };
}

function valueIn(fields: readonly string[], name: string): string | undefined {
  const position = fields.indexOf(name);
  return position === -1 ? undefined : fields[position + 1];
}

function text(seen: Seen): string {
  return JSON.stringify(seen, ['status', 'location', 'origin', 'backend', 'target', 'host']);
}
