import { endpointsFor } from '../config.ts';
import type { ConfigKey, ConfigResource, EndpointsConfig, Layer4Backend, Layer4RouteConfig, ListenerConfig } from '../config.ts';
import { decideBackend } from './decide.ts';
import type { BackendReason, DecidedEndpoints } from './decide.ts';
import { Layer4Table } from './layer4.ts';
import type { Layer4Candidate } from './layer4.ts';
import { ListenerIndex } from './listener-index.ts';
import { decided } from './outcome.ts';

/** A connection, or a flow of datagrams, with the place at which it arrives. */
export interface ArrivingConnection {
  readonly protocol: 'TLS' | 'TCP' | 'UDP';
  /** The port of the listener. */
  readonly port: number;
  /** The server name of the TLS handshake in lower case; `''` without one, and for TCP and UDP. */
  readonly serverName: string;
}

/** What a Gateway does with a connection or flow. */
export interface Layer4Outcome {
  /** `namespace/name`. */
  readonly gateway: string;
  readonly listener: ListenerConfig | undefined;
  readonly decision: Layer4Decision;
  /** Routes of the listener in order of precedence. */
  readonly candidates: readonly Layer4Candidate[];
}

export type Layer4Decision =
  /** The connection is closed, or the datagram is dropped. */
  | { readonly type: 'close'; readonly reason: 'no-listener' | 'no-route' }
  | { readonly type: 'close'; readonly reason: 'rule-failure'; readonly route: Layer4RouteConfig }
  /** An HTTPS listener takes the connection, and routes its requests. */
  | { readonly type: 'requests' }
  | { readonly type: 'forward'; readonly route: Layer4RouteConfig; readonly shares: readonly Layer4Share[] };

/** `weight` of `total` connections or flows go this way. */
export interface Layer4Share {
  readonly weight: number;
  readonly total: number;
  /** `undefined` where no backend has a weight above zero. */
  readonly backend: Layer4Backend | undefined;
  readonly result: { readonly type: 'send'; readonly endpoints: EndpointsConfig } | { readonly type: 'close'; readonly reason: BackendReason; readonly detail: string | undefined };
}

/** What every Gateway that has a listener for the protocol and port does with a connection, in the order of their names. */
export function layer4OutcomesOf(resources: Iterable<ConfigResource>, connection: ArrivingConnection): readonly Layer4Outcome[] {
  const all = [...resources];
  const listeners = all.filter((resource) => resource.kind === 'listener' && arrivesAt(resource, connection)) as readonly ListenerConfig[];
  const byGateway = Map.groupBy(listeners, ({ gateway }) => gateway);
  const table = new Layer4Table();
  for (const resource of all) if (resource.kind === 'layer4Route') table.upsert(resource);
  const served = [...byGateway].filter(([, ofGateway]) => ofGateway.some(({ protocol }) => protocol === connection.protocol));
  return served.sort(([one], [other]) => (one < other ? -1 : 1)).map(([gateway, ofGateway]) => outcomeOf(gateway, { listeners: ofGateway, table, endpoints: endpointsOf(gateway, all) }, connection));
}

/** HTTPS listeners share the port with TLS listeners: the server name decides between them. */
function arrivesAt({ protocol, port }: ListenerConfig, connection: ArrivingConnection): boolean {
  return port === connection.port && (protocol === connection.protocol || (protocol === 'HTTPS' && connection.protocol === 'TLS'));
}

type Endpoints = ReadonlyMap<ConfigKey, EndpointsConfig & DecidedEndpoints>;

function endpointsOf(gateway: string, resources: readonly ConfigResource[]): Endpoints {
  return new Map(resources.flatMap((resource) => (resource.kind === 'endpoints' ? [[resource.key, decided(endpointsFor(gateway, resource))] as const] : [])));
}

interface GatewayState {
  readonly listeners: readonly ListenerConfig[];
  readonly table: Layer4Table;
  readonly endpoints: Endpoints;
}

function outcomeOf(gateway: string, { listeners, table, endpoints }: GatewayState, { serverName }: ArrivingConnection): Layer4Outcome {
  const index = new ListenerIndex();
  for (const listener of listeners) index.add(listener);
  const listener = index.select(serverName);
  if (listener === undefined) return { gateway, listener, decision: { type: 'close', reason: 'no-listener' }, candidates: [] };
  if (listener.protocol === 'HTTPS') return { gateway, listener, decision: { type: 'requests' }, candidates: [] };
  return { gateway, listener, decision: decideRoute(table.routeFor(listener.key, serverName), endpoints), candidates: [...table.candidates(listener.key, serverName)] };
}

function decideRoute(route: Layer4RouteConfig | undefined, endpoints: Endpoints): Layer4Decision {
  if (route === undefined) return { type: 'close', reason: 'no-route' };
  if (route.failure !== undefined) return { type: 'close', reason: 'rule-failure', route };
  const backends = route.backends.filter(({ weight }) => weight > 0);
  const total = backends.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return { type: 'forward', route, shares: [{ weight: 1, total: 1, backend: undefined, result: resultOf(undefined, endpoints) }] };
  return { type: 'forward', route, shares: backends.map((backend) => ({ weight: backend.weight, total, backend, result: resultOf(backend, endpoints) })) };
}

function resultOf(backend: Layer4Backend | undefined, endpoints: Endpoints): Layer4Share['result'] {
  const key = backend?.target.type === 'endpoints' ? backend.target.key : undefined;
  const found = decideBackend(backend && { endpoints: key }, (wanted) => endpoints.get(wanted));
  if (typeof found !== 'string') return { type: 'send', endpoints: found };
  return { type: 'close', reason: found, detail: backend?.target.type === 'invalid' ? backend.target.reason : endpoints.get(key ?? '')?.failure };
}

/** Whether every share of connections reaches a backend. */
export function isForwarded({ decision }: Layer4Outcome): boolean {
  return decision.type === 'forward' && decision.shares.every(({ result }) => result.type === 'send');
}
