import type { ConfigResource, EndpointsConfig, Layer4Backend, Layer4RouteConfig, ListenerConfig } from '../config.ts';
import { ResourcesByGateway, type EndpointsOfGateway } from './resources-by-gateway.ts';
import { decideBackend } from './decide.ts';
import type { BackendReason } from './decide.ts';
import { Layer4Table } from './layer4.ts';
import type { Layer4Candidate } from './layer4.ts';
import { ListenerIndex } from './listener-index.ts';
import { unlessUnknown, type UnknownShare } from './outcome.ts';
import { sharesOf, type Share } from './shares.ts';

/** A connection or a flow of datagrams that arrives at a port. */
export interface ArrivingConnection {
  readonly protocol: 'TLS' | 'TCP' | 'UDP';
  /** The port of the listener. */
  readonly port: number;
  /** The server name of the TLS handshake in lower case; `''` if absent, and for TCP and UDP. */
  readonly serverName: string;
}

/** The handling of a connection or flow by a Gateway. */
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
  /** An HTTPS listener accepts the connection and routes its requests. */
  | { readonly type: 'requests' }
  | { readonly type: 'forward'; readonly route: Layer4RouteConfig; readonly shares: readonly Layer4Share[] };

export type Layer4Share = Share<
  Layer4Backend,
  | { readonly type: 'send'; readonly endpoints: EndpointsConfig }
  | { readonly type: 'close'; readonly reason: BackendReason; readonly detail: string | undefined }
  | UnknownShare
>;

/** The outcomes of a connection at all Gateways with a listener for the protocol and port, ordered by name. */
export function layer4OutcomesOf(
  resources: Iterable<ConfigResource>,
  connection: ArrivingConnection,
): readonly Layer4Outcome[] {
  const prepared = new PreparedConnections(resources);
  const outcomes = prepared.gateways().flatMap((gateway) => prepared.at(gateway, connection) ?? []);
  return outcomes.map((routed) => ({
    ...routed,
    candidates:
      routed.listener === undefined ? [] : [...prepared.table.candidates(routed.listener.key, connection.serverName)],
  }));
}

/** An outcome without candidates. */
export type RoutedConnection = Omit<Layer4Outcome, 'candidates'>;

/** A configuration for many connections: data is prepared once per Gateway and port. */
export class PreparedConnections {
  readonly table = new Layer4Table();
  private readonly resources: ResourcesByGateway;
  private readonly prepared = new Map<string, ListenerIndex | undefined>();

  constructor(resources: Iterable<ConfigResource>) {
    const all = [...resources];
    this.resources = new ResourcesByGateway(all);
    for (const resource of all) if (resource.kind === 'layer4Route') this.table.upsert(resource);
  }

  /** `namespace/name` of each Gateway with a listener, in order. */
  gateways(): readonly string[] {
    return this.resources.gateways();
  }

  /** The outcome of a connection at a Gateway (`namespace/name`); `undefined` if it has no listener for the protocol and port. */
  at(gateway: string, connection: ArrivingConnection): RoutedConnection | undefined {
    const place = `${connection.protocol} ${connection.port} ${gateway}`;
    if (!this.prepared.has(place)) this.prepared.set(place, this.listenersAt(gateway, connection));
    const listeners = this.prepared.get(place);
    return listeners && this.outcomeAt(gateway, listeners, connection);
  }

  private listenersAt(gateway: string, connection: ArrivingConnection): ListenerIndex | undefined {
    const reached = this.resources.listenersOf(gateway).filter((listener) => arrivesAt(listener, connection));
    return reached.some(({ protocol }) => protocol === connection.protocol) ? indexOf(reached) : undefined;
  }

  private outcomeAt(gateway: string, listeners: ListenerIndex, { serverName }: ArrivingConnection): RoutedConnection {
    const endpoints = this.resources.endpointsOf(gateway);
    const listener = listeners.select(serverName);
    if (listener === undefined) return { gateway, listener, decision: { type: 'close', reason: 'no-listener' } };
    if (listener.protocol === 'HTTPS') return { gateway, listener, decision: { type: 'requests' } };
    return { gateway, listener, decision: decideRoute(this.table.routeFor(listener.key, serverName), endpoints) };
  }
}

function indexOf(listeners: readonly ListenerConfig[]): ListenerIndex {
  const index = new ListenerIndex();
  for (const listener of listeners) index.add(listener);
  return index;
}

/** HTTPS listeners can share a port with TLS listeners: the server name selects the listener. */
function arrivesAt({ protocol, port }: ListenerConfig, connection: ArrivingConnection): boolean {
  return (
    port === connection.port &&
    (protocol === connection.protocol || (protocol === 'HTTPS' && connection.protocol === 'TLS'))
  );
}

function decideRoute(route: Layer4RouteConfig | undefined, endpoints: EndpointsOfGateway): Layer4Decision {
  if (route === undefined) return { type: 'close', reason: 'no-route' };
  if (route.failure !== undefined) return { type: 'close', reason: 'rule-failure', route };
  return { type: 'forward', route, shares: sharesOf(route.backends, (backend) => resultOf(backend, endpoints)) };
}

function resultOf(backend: Layer4Backend | undefined, endpoints: EndpointsOfGateway): Layer4Share['result'] {
  const key = backend?.target.type === 'endpoints' ? backend.target.key : undefined;
  const problem = backend?.target.type === 'invalid' ? backend.target : undefined;
  const found = decideBackend(backend && { endpoints: key }, endpoints);
  if (typeof found !== 'string') return { type: 'send', endpoints: found };
  const missing = endpoints(key ?? '');
  return unlessUnknown(problem ?? missing, {
    type: 'close',
    reason: found,
    detail: problem?.reason ?? missing?.failure,
  });
}

/** Whether every share of connections reaches a backend. */
export function isForwarded({ decision }: RoutedConnection): boolean {
  return decision.type === 'forward' && decision.shares.every(({ result }) => result.type === 'send');
}
