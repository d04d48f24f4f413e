import { endpointsFor } from '../config.ts';
import type {
  ConfigKey,
  ConfigResource,
  EndpointsConfig,
  Layer4Backend,
  Layer4RouteConfig,
  ListenerConfig,
} from '../config.ts';
import { decideBackend } from './decide.ts';
import type { BackendReason, DecidedEndpoints } from './decide.ts';
import { Layer4Table } from './layer4.ts';
import type { Layer4Candidate } from './layer4.ts';
import { ListenerIndex } from './listener-index.ts';
import { decided, unlessUnknown, type UnknownShare } from './outcome.ts';
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
  return prepared.of(connection).map((routed) => ({
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
  private readonly resources: readonly ConfigResource[];
  private readonly prepared = new Map<string, readonly GatewayState[]>();

  constructor(resources: Iterable<ConfigResource>) {
    this.resources = [...resources];
    for (const resource of this.resources) if (resource.kind === 'layer4Route') this.table.upsert(resource);
  }

  /** The outcomes of a connection at each Gateway, ordered by name, without candidates. */
  of(connection: ArrivingConnection): readonly RoutedConnection[] {
    const place = `${connection.protocol} ${connection.port}`;
    const known = this.prepared.get(place) ?? this.gatewaysAt(connection);
    this.prepared.set(place, known);
    return known.map((state) => this.outcomeOf(state, connection));
  }

  private gatewaysAt(connection: ArrivingConnection): readonly GatewayState[] {
    const listeners = this.resources.filter(
      (resource): resource is ListenerConfig => resource.kind === 'listener' && arrivesAt(resource, connection),
    );
    const served = [...Map.groupBy(listeners, ({ gateway }) => gateway)].filter(([, ofGateway]) =>
      ofGateway.some(({ protocol }) => protocol === connection.protocol),
    );
    return served
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([gateway, ofGateway]) => ({
        gateway,
        listeners: indexOf(ofGateway),
        endpoints: endpointsOf(gateway, this.resources),
      }));
  }

  private outcomeOf(
    { gateway, listeners, endpoints }: GatewayState,
    { serverName }: ArrivingConnection,
  ): RoutedConnection {
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

type Endpoints = ReadonlyMap<ConfigKey, EndpointsConfig & DecidedEndpoints>;

function endpointsOf(gateway: string, resources: readonly ConfigResource[]): Endpoints {
  return new Map(
    resources.flatMap((resource) =>
      resource.kind === 'endpoints' ? [[resource.key, decided(endpointsFor(gateway, resource))] as const] : [],
    ),
  );
}

interface GatewayState {
  readonly gateway: string;
  readonly listeners: ListenerIndex;
  readonly endpoints: Endpoints;
}

function decideRoute(route: Layer4RouteConfig | undefined, endpoints: Endpoints): Layer4Decision {
  if (route === undefined) return { type: 'close', reason: 'no-route' };
  if (route.failure !== undefined) return { type: 'close', reason: 'rule-failure', route };
  return { type: 'forward', route, shares: sharesOf(route.backends, (backend) => resultOf(backend, endpoints)) };
}

function resultOf(backend: Layer4Backend | undefined, endpoints: Endpoints): Layer4Share['result'] {
  const key = backend?.target.type === 'endpoints' ? backend.target.key : undefined;
  const problem = backend?.target.type === 'invalid' ? backend.target : undefined;
  const found = decideBackend(backend && { endpoints: key }, (wanted) => endpoints.get(wanted));
  if (typeof found !== 'string') return { type: 'send', endpoints: found };
  const missing = endpoints.get(key ?? '');
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
