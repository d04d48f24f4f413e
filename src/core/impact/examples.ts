import type { ConfigKey, ConfigResource, EndpointsConfig, ListenerConfig, NamedMatch, RouteConfig, RouteMatch } from '../routing/config.ts';
import { endpointsOf } from '../routing/config.ts';
import type { ArrivingRequest } from '../routing/decision/outcome.ts';
import { intersectHostnames } from '../text/hostname.ts';
import { compilePattern } from '../text/pattern.ts';

/** A request that stands for all requests that meet one match of a route at one listener. */
export interface ExampleRequest {
  readonly request: ArrivingRequest;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** So many examples are compared at most: every match of every route that a change can reach. */
const maxExamples = 5_000;

/** The host of a request to a listener and a route that both accept any host. */
const anyHost = 'any.example';

/**
 * Finds an example for every match that a change can affect: matches of routes that change, of routes at listeners that change,
 * and of routes whose endpoints change.
 *
 * @param before the configuration by key
 * @param after the same after the change
 * @returns the examples, and whether there were more than fit
 */
export function examplesOf(before: ReadonlyMap<ConfigKey, ConfigResource>, after: ReadonlyMap<ConfigKey, ConfigResource>): { readonly examples: readonly ExampleRequest[]; readonly incomplete: boolean } {
  const changed = changedKeys(before, after);
  const examples = new Map<string, ExampleRequest>();
  for (const state of [before, after]) {
    for (const resource of state.values()) {
      if (resource.kind !== 'route' || !isAffected(resource, changed)) continue;
      for (const example of examplesOfRoute(resource, state)) {
        if (examples.size === maxExamples) return { examples: [...examples.values()], incomplete: true };
        examples.set(nameOf(example), example);
      }
    }
  }
  return { examples: [...examples.values()], incomplete: false };
}

/** How people write the request: method, URL and headers. */
export function nameOf({ request, headers }: ExampleRequest): string {
  const { method, protocol, authority, path, search } = request;
  const fields = headers.map(([name, value]) => ` -H '${name}: ${value}'`).join('');
  return `${method} ${protocol.toLowerCase()}://${authority}${path}${search}${fields}`;
}

/** Addresses of endpoints come and go; only whether there are any decides about a request. */
function changedKeys(before: ReadonlyMap<ConfigKey, ConfigResource>, after: ReadonlyMap<ConfigKey, ConfigResource>): ReadonlySet<ConfigKey> {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return new Set([...keys].filter((key) => essence(before.get(key)) !== essence(after.get(key))));
}

function essence(resource: ConfigResource | undefined): string {
  if (resource === undefined) return '';
  return JSON.stringify(resource.kind === 'endpoints' ? essentials(resource) : { ...resource, generation: 0 });
}

function essentials({ addresses, ...rest }: EndpointsConfig): unknown {
  return { ...rest, isEmpty: addresses.length === 0 };
}

function isAffected(route: RouteConfig, changed: ReadonlySet<ConfigKey>): boolean {
  return changed.has(route.key) || route.attachments.some(({ listener }) => changed.has(listener)) || endpointsOf(route).some((key) => changed.has(key));
}

function* examplesOfRoute(route: RouteConfig, state: ReadonlyMap<ConfigKey, ConfigResource>): Iterable<ExampleRequest> {
  for (const { listener: key, hostnames } of route.attachments) {
    const listener = state.get(key);
    if (listener?.kind !== 'listener') continue;
    for (const hostname of hostnames) {
      const common = intersectHostnames(listener.hostname ?? '', hostname);
      if (common === undefined) continue;
      for (const match of route.rules.flatMap(({ matches }) => matches)) {
        const example = exampleOf(listener, hostOf(common), { match, isGrpc: route.protocol === 'grpc' });
        if (example !== undefined) yield example;
      }
    }
  }
}

function hostOf(hostname: string): string {
  if (hostname === '') return anyHost;
  return hostname.startsWith('*.') ? `any${hostname.slice(1)}` : hostname;
}

/** `undefined` where no value is known that an expression of the match accepts. */
function exampleOf(listener: ListenerConfig, host: string, { match, isGrpc }: { readonly match: RouteMatch; readonly isGrpc: boolean }): ExampleRequest | undefined {
  const path = match.path.type === 'RegularExpression' ? acceptedBy(match.path.value, '/') : match.path.value;
  const headers = pairsOf(match.headers);
  const query = pairsOf(match.query);
  if (path === undefined || headers === undefined || query === undefined) return undefined;
  const fields = isGrpc ? [...headers, ['content-type', 'application/grpc'] as const] : headers;
  const { protocol, port } = listener;
  const isUsual = (protocol === 'HTTPS' ? 443 : 80) === port;
  return {
    headers: fields,
    request: {
      protocol, port, host, path,
      serverName: protocol === 'HTTPS' ? host : undefined,
      authority: isUsual ? host : `${host}:${port}`,
      search: query.length === 0 ? '' : `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()}`,
      method: match.method ?? (isGrpc ? 'POST' : 'GET'),
      remainingHops: undefined,
      hops: 0,
      header: (name) => fields.find(([field]) => field === name)?.[1] ?? (name === 'host' ? host : undefined),
      query: (name) => query.find(([parameter]) => parameter === name)?.[1],
    },
  };
}

function pairsOf(matches: readonly NamedMatch[]): readonly (readonly [string, string])[] | undefined {
  const pairs = matches.map(({ name, type, value }) => [name, type === 'RegularExpression' ? acceptedBy(value, '') : value] as const);
  return pairs.every((pair): pair is readonly [string, string] => pair[1] !== undefined) ? pairs : undefined;
}

/** A text that an expression accepts, found by trying the text without its operators; `undefined` where none fits. */
function acceptedBy(expression: string, start: string): string | undefined {
  const compiled = compilePattern(expression);
  if (!compiled.ok) return undefined;
  const literal = expression.replaceAll(/\\(?=[^a-zA-Z0-9])/g, '');
  const filled = literal.replaceAll(/\[0-9\][*+]?|\\d[*+]?/g, '1').replaceAll(/\[[^\]]*\][*+]?|\.[*+]|\\w[*+]?/g, 'a').replaceAll(/[()?^$]/g, '');
  return [literal, filled, start, `${start}a`, '1', 'true'].find((text) => text.startsWith(start) && compiled.pattern.matches(text));
}
