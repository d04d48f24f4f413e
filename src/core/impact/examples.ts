import { ofQualifiedName } from '../resources/reference.ts';
import type {
  ConfigKey,
  ConfigResource,
  EndpointsConfig,
  Layer4RouteConfig,
  ListenerConfig,
  NamedMatch,
  RouteConfig,
  RouteMatch,
} from '../routing/config.ts';
import { endpointsOf } from '../routing/config.ts';
import type { ArrivingConnection } from '../routing/decision/layer4-outcome.ts';
import type { ArrivingRequest } from '../routing/decision/outcome.ts';
import { intersectHostnames } from '../text/hostname.ts';
import { defaultPorts } from '../text/origin.ts';
import { normalizePath } from '../text/path.ts';
import { compilePattern } from '../patterns/pattern.ts';

/** An example of the requests that one match of a route at one listener receives. */
export interface ExampleRequest {
  readonly request: ArrivingRequest;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The requests that the example stands for: `shop.example.com/cart`, `/cart` for any host, `POST *.example.com:8080/`. */
  readonly place: string;
}

/** An example, and where it is from. */
export interface Placed<E> {
  readonly example: E;
  /** `namespace/name` of the Gateways at whose listeners it is an example of a match, before or after the change. */
  readonly gateways: ReadonlySet<string>;
}

/** The maximum number of compared examples. There is one for every match of every route that a change can affect. */
const maxExamples = 5_000;

/** The maximum number of comparisons: examples multiplied by Gateways. Each one can be a change, which takes about 1 KB. */
export const maxComparisons = 100_000;

/** The host of a request to a listener and a route that both accept any host. */
const anyHost = 'any.example';

/** Requests and connections whose outcome a change can affect. */
export interface Examples {
  readonly requests: readonly Placed<ExampleRequest>[];
  readonly connections: readonly Placed<ArrivingConnection>[];
  /** Whether a limit was reached. */
  readonly incomplete: boolean;
}

/**
 * Creates an example for every match, and for every hostname of a layer 4 route, that a change can affect: of routes that
 * change, of routes at listeners that change, and of routes whose endpoints change.
 *
 * @param before the configuration before the change, by key
 * @param after the configuration after the change, by key
 */
export function examplesOf(
  before: ReadonlyMap<ConfigKey, ConfigResource>,
  after: ReadonlyMap<ConfigKey, ConfigResource>,
): Examples {
  const changed = changedKeys(before, after);
  const requests = new PlacedExamples<ExampleRequest>();
  const connections = new PlacedExamples<ArrivingConnection>();
  const all = (incomplete: boolean): Examples => ({
    requests: requests.all(),
    connections: connections.all(),
    incomplete,
  });
  for (const state of [before, after]) {
    for (const route of state.values()) {
      if ((route.kind !== 'route' && route.kind !== 'layer4Route') || !isAffected(route, state, changed)) continue;
      for (const { example, gateway } of examplesOfRoute(route, state)) {
        if (requests.size + connections.size === maxExamples) return all(true);
        if (requests.comparisons + connections.comparisons === maxComparisons) return all(true);
        if ('request' in example) requests.add(nameOf(example), example, gateway);
        else connections.add(JSON.stringify(example), example, gateway);
      }
    }
  }
  return all(false);
}

/** Different examples, each with its Gateways. */
class PlacedExamples<E> {
  /** The number of examples at Gateways. */
  comparisons = 0;
  private readonly byName = new Map<string, { readonly example: E; readonly gateways: Set<string> }>();

  get size(): number {
    return this.byName.size;
  }

  add(name: string, example: E, gateway: string): void {
    const placed = this.byName.get(name) ?? { example, gateways: new Set() };
    this.byName.set(name, placed);
    if (!placed.gateways.has(gateway)) this.comparisons++;
    placed.gateways.add(gateway);
  }

  all(): readonly Placed<E>[] {
    return [...this.byName.values()];
  }
}

/** Describes the request: method, URL and headers. */
export function nameOf({ request, headers }: ExampleRequest): string {
  const { method, protocol, authority, path, search } = request;
  const fields = headers.map(([name, value]) => ` -H '${name}: ${value}'`).join('');
  return `${method} ${protocol.toLowerCase()}://${authority}${path}${search}${fields}`;
}

/**
 * Returns the URL of a connection, in the notation of `explain`. TCP and UDP have no server name, so the URL names the Gateway.
 *
 * @param gateway `namespace/name`
 */
export function urlOf({ protocol, port, serverName }: ArrivingConnection, gateway: string): string {
  const { namespace, name } = ofQualifiedName(gateway);
  return `${protocol.toLowerCase()}://${protocol === 'TLS' ? serverName : `${name}.${namespace}`}:${port}`;
}

/**
 * Returns the keys of changed configuration. Only whether there are endpoints affects a request, so changes of their addresses
 * do not count.
 */
function changedKeys(
  before: ReadonlyMap<ConfigKey, ConfigResource>,
  after: ReadonlyMap<ConfigKey, ConfigResource>,
): ReadonlySet<ConfigKey> {
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

function isAffected(
  route: RouteConfig | Layer4RouteConfig,
  state: ReadonlyMap<ConfigKey, ConfigResource>,
  changed: ReadonlySet<ConfigKey>,
): boolean {
  const listeners = route.attachments.flatMap(({ listener: key }) => {
    const listener = state.get(key);
    return listener?.kind === 'listener' ? [listener] : [];
  });
  return (
    changed.has(route.key) ||
    route.attachments.some(({ listener }) => changed.has(listener)) ||
    [route, ...listeners].flatMap(endpointsOf).some((key) => changed.has(key))
  );
}

function* examplesOfRoute(
  route: RouteConfig | Layer4RouteConfig,
  state: ReadonlyMap<ConfigKey, ConfigResource>,
): Iterable<{ readonly example: ExampleRequest | ArrivingConnection; readonly gateway: string }> {
  for (const { listener: key, hostnames } of route.attachments) {
    const listener = state.get(key);
    if (listener?.kind !== 'listener') continue;
    for (const hostname of hostnames) {
      const common = intersectHostnames(listener.hostname ?? '', hostname);
      if (common === undefined) continue;
      const examples =
        route.kind === 'layer4Route' ? connectionTo(listener, hostOf(common)) : requestsTo(listener, common, route);
      for (const example of examples) yield { example, gateway: listener.gateway };
    }
  }
}

function* requestsTo(listener: ListenerConfig, hostname: string, route: RouteConfig): Iterable<ExampleRequest> {
  for (const match of route.rules.flatMap(({ matches }) => matches)) {
    const example = exampleOf(listener, hostname, { match, isGrpc: route.protocol === 'grpc' });
    if (example !== undefined) yield example;
  }
}

function* connectionTo({ protocol, port }: ListenerConfig, host: string): Iterable<ArrivingConnection> {
  if (protocol === 'HTTP' || protocol === 'HTTPS') return;
  yield { protocol, port, serverName: protocol === 'TLS' ? host : '' };
}

function hostOf(hostname: string): string {
  if (hostname === '') return anyHost;
  return hostname.startsWith('*.') ? `any${hostname.slice(1)}` : hostname;
}

/** Returns an example; `undefined` if no value is found that an expression of the match accepts. */
function exampleOf(
  listener: ListenerConfig,
  hostname: string,
  { match, isGrpc }: { readonly match: RouteMatch; readonly isGrpc: boolean },
): ExampleRequest | undefined {
  const path = match.path.type === 'RegularExpression' ? pathAcceptedBy(match.path.value) : match.path.value;
  const headers = pairsOf(match.headers);
  const query = pairsOf(match.query);
  if (path === undefined || headers === undefined || query === undefined) return undefined;
  const fields = isGrpc ? [...headers, ['content-type', 'application/grpc'] as const] : headers;
  const { protocol, port } = listener;
  const isUsual = defaultPorts[protocol === 'HTTPS' ? 'https' : 'http'] === port;
  const host = hostOf(hostname);
  const authorityOf = (name: string): string => (isUsual ? name : `${name}:${port}`);
  return {
    headers: fields,
    place: placeOf(authorityOf(hostname === '' && !isUsual ? '*' : hostname), path, match),
    request: {
      protocol,
      port,
      host,
      path,
      serverName: protocol === 'HTTPS' ? host : undefined,
      authority: authorityOf(host),
      search:
        query.length === 0
          ? ''
          : `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()}`,
      method: match.method ?? (isGrpc ? 'POST' : 'GET'),
      remainingHops: undefined,
      hops: 0,
      header: (name) => fields.find(([field]) => field === name)?.[1] ?? (name === 'host' ? host : undefined),
      query: (name) => query.find(([parameter]) => parameter === name)?.[1],
    },
  };
}

function placeOf(authority: string, path: string, { method, headers, query }: RouteMatch): string {
  const conditions = [...headers, ...query].map(({ name }) => name);
  const only = conditions.length === 0 ? '' : ` with ${conditions.join(', ')}`;
  return `${method === undefined ? '' : `${method} `}${authority}${path}${only}`;
}

function pairsOf(matches: readonly NamedMatch[]): readonly (readonly [string, string])[] | undefined {
  const pairs = matches.map(
    ({ name, type, value }) => [name, type === 'RegularExpression' ? valueAcceptedBy(value) : value] as const,
  );
  return pairs.every((pair): pair is readonly [string, string] => pair[1] !== undefined) ? pairs : undefined;
}

const wordCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Characters of a path that need no encoding, and `%`, which begins an encoding. */
const pathCharacters = `${wordCharacters}-_~/!$&()*+,;=:@'.%`;
/** Printable ASCII characters. Those that are special in a shell come last. */
const valueCharacters = `${wordCharacters}-_.~/:,;=+@%^!?#*&()[]{}|<>$"\\\`' `;

/** Returns the shortest path of a request that an expression accepts; `undefined` if it accepts no path of ASCII characters. */
function pathAcceptedBy(expression: string): string | undefined {
  const path = shortestOf(expression, '/', pathCharacters);
  const normalized = normalizePath(path ?? '');
  return normalized.ok && normalized.path === path ? path : undefined;
}

/** Returns the shortest value of a header or query parameter that an expression accepts. Data planes ignore spaces around header values. */
function valueAcceptedBy(expression: string): string | undefined {
  const value = shortestOf(expression, '', valueCharacters);
  return value?.trim() === value ? value : undefined;
}

function shortestOf(expression: string, prefix: string, characters: string): string | undefined {
  const compiled = compilePattern(expression);
  return compiled.ok ? compiled.pattern.shortest(prefix, characters) : undefined;
}
