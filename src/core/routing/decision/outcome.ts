import type { Unobserved } from '../../graph/observed.ts';
import { routeFor } from '../config.ts';
import type {
  ConfigKey,
  ConfigResource,
  EndpointsConfig,
  InvalidTarget,
  ListenerConfig,
  MatchedRoute,
  MirrorFilter,
} from '../config.ts';
import { RouteTable } from '../table.ts';
import type { Candidate } from '../table.ts';
import { authorizationTarget, prepareListenerFilters } from './authorization.ts';
import type { Authorization } from './authorization.ts';
import { ResourcesByGateway, type EndpointsOfGateway } from './resources-by-gateway.ts';
import { decide, decideAuthorization, decideBackend, filtersBefore, forwardedHost, forwardedTarget } from './decide.ts';
import type { AuthorizationReason, BackendReason, DecidedRequest, Decision, Routing, Taken } from './decide.ts';
import { ListenerIndex } from './listener-index.ts';
import { prepareRule } from './prepared-rule.ts';
import type { PreparedBackend, PreparedRule } from './prepared-rule.ts';
import { sharesOf, type Share } from './shares.ts';

/** A request that arrives at a port. */
export interface ArrivingRequest extends DecidedRequest {
  readonly protocol: ListenerConfig['protocol'];
  /** The port of the listener. */
  readonly port: number;
  /** The server name of the TLS handshake in lower case; `undefined` without TLS. */
  readonly serverName: string | undefined;
  /** Host and port as sent by the client. */
  readonly authority: string;
}

/** The handling of a request by a Gateway, with every backend that may get it. */
export interface Outcome {
  /** `namespace/name`. */
  readonly gateway: string;
  readonly listener: ListenerConfig | undefined;
  readonly decision:
    | Decision<PreparedRule>
    | { readonly type: 'answer'; readonly reason: 'no-listener' | 'misdirected' };
  /** Whether and how the authorization servers of the listener are called, in order, before the request is routed. */
  readonly filters: readonly AuthorizationOutcome[];
  /** For `authorize`: whether and how an authorization server is called. */
  readonly authorization: AuthorizationOutcome | undefined;
  /** The distribution of requests for `forward`, also after `authorize`. Empty otherwise. */
  readonly shares: readonly BackendShare[];
  /** All matches of the listener in order of precedence, each with the reasons why the request does not match. */
  readonly candidates: readonly Candidate[];
}

/** The outcome of requests that need permission. */
export interface AuthorizationOutcome {
  readonly authorization: Authorization;
  readonly result: AskedServer | AnsweredShare<AuthorizationReason> | UnknownShare;
}

export interface AskedServer {
  readonly type: 'ask';
  readonly endpoints: EndpointsConfig;
  /** Path and query for the server. */
  readonly target: string;
}

export type BackendShare = Share<PreparedBackend, AnsweredShare<BackendReason> | SentShare | UnknownShare>;

export interface AnsweredShare<R> {
  readonly type: 'answer';
  readonly reason: R;
  /** The reason, if the configuration contains one. */
  readonly detail: string | undefined;
}

/** It is unknown whether there are endpoints, because these objects are not observed. A data plane would send an error response. */
export interface UnknownShare {
  readonly type: 'unknown';
  readonly unobserved: Unobserved;
}

export interface SentShare {
  readonly type: 'send';
  readonly endpoints: EndpointsConfig;
  /** Path and query for the backend. */
  readonly target: string;
  /** Host for the backend. */
  readonly host: string;
  readonly mirrors: readonly MirrorShare[];
}

/** These endpoints get a copy of `numerator` of `denominator` requests. */
export interface MirrorShare {
  readonly mirror: MirrorFilter;
  /** `undefined`: nothing is mirrored, because the backend cannot be used or has no endpoints. */
  readonly endpoints: EndpointsConfig | undefined;
}

/**
 * The outcomes of a request at all Gateways with a listener for the protocol and port, ordered by name. Gateways that
 * forward the TLS connection itself are left out: see `layer4OutcomesOf`.
 */
export function outcomesOf(resources: Iterable<ConfigResource>, request: ArrivingRequest): readonly Outcome[] {
  const all = new ResourcesByGateway(resources);
  return all.gateways().flatMap((gateway) => preparedFor(gateway, all, request)?.outcomeOf(request) ?? []);
}

/** A configuration for many requests: data is prepared once per Gateway and port. */
export class PreparedOutcomes {
  private readonly resources: ResourcesByGateway;
  private readonly prepared = new Map<string, GatewayConfiguration | undefined>();

  constructor(resources: Iterable<ConfigResource>) {
    this.resources = new ResourcesByGateway(resources);
  }

  /** `namespace/name` of each Gateway with a listener, in order. */
  gateways(): readonly string[] {
    return this.resources.gateways();
  }

  /** The outcome of a request at a Gateway (`namespace/name`); `undefined` if it has no listener for the protocol and port. */
  at(gateway: string, request: ArrivingRequest): RoutedOutcome | undefined {
    const place = `${request.protocol} ${request.port} ${gateway}`;
    if (!this.prepared.has(place)) this.prepared.set(place, preparedFor(gateway, this.resources, request));
    return this.prepared.get(place)?.routed(request);
  }
}

/** An outcome without candidates. */
export type RoutedOutcome = Omit<Outcome, 'candidates'>;

/** Whether every share of such requests reaches a backend or gets a response that the route intends. */
export function isServed({ decision, filters, authorization, shares }: RoutedOutcome): boolean {
  return (
    decision.type !== 'answer' &&
    authorization?.result.type !== 'answer' &&
    filters.every(({ result }) => result.type === 'ask') &&
    shares.every(({ result }) => result.type === 'send')
  );
}

function preparedFor(
  gateway: string,
  resources: ResourcesByGateway,
  request: ArrivingRequest,
): GatewayConfiguration | undefined {
  const isReached = resources.listenersOf(gateway).some((listener) => arrivesAt(listener, request));
  return isReached ? new GatewayConfiguration(gateway, resources, request) : undefined;
}

type Arrival = Pick<ArrivingRequest, 'protocol' | 'port'>;

function arrivesAt({ protocol, port }: ListenerConfig, request: Arrival): boolean {
  return protocol === request.protocol && port === request.port;
}

/** TLS listeners can share a port with HTTPS listeners: the server name selects the listener. */
function sharesPort({ protocol, port }: ListenerConfig, request: Arrival): boolean {
  return (
    port === request.port && (protocol === request.protocol || (protocol === 'TLS' && request.protocol === 'HTTPS'))
  );
}

/** The configuration of one Gateway at one port, as in its data plane. */
class GatewayConfiguration implements Routing<PreparedRule> {
  private readonly gateway: string;
  private readonly listeners = new ListenerIndex();
  private readonly table = new RouteTable();
  private readonly endpoints: EndpointsOfGateway;

  constructor(gateway: string, resources: ResourcesByGateway, request: ArrivingRequest) {
    this.gateway = gateway;
    this.endpoints = resources.endpointsOf(gateway);
    const listeners = resources.listenersOf(gateway).filter((listener) => sharesPort(listener, request));
    for (const listener of listeners) this.listeners.add(listener);
    const keys = new Set(listeners.map(({ key }) => key));
    for (const route of resources.routesAt(keys)) {
      // A route may have very many matches at listeners of other ports.
      const attachments = route.attachments.filter(({ listener }) => keys.has(listener));
      this.table.upsert(routeFor(gateway, { ...route, attachments }));
    }
  }

  match(listener: ConfigKey, request: DecidedRequest): MatchedRoute | undefined {
    return this.table.match(listener, request);
  }

  ruleOf({ rule }: MatchedRoute): PreparedRule {
    return prepareRule(rule);
  }

  /** `undefined` if a TLS listener gets the connection. */
  outcomeOf(request: ArrivingRequest): Outcome | undefined {
    const routed = this.routed(request);
    return (
      routed && {
        ...routed,
        candidates: routed.listener === undefined ? [] : [...this.table.candidates(routed.listener.key, request)],
      }
    );
  }

  routed(request: ArrivingRequest): RoutedOutcome | undefined {
    const { gateway } = this;
    const listener = this.listenerFor(request);
    if (listener === undefined) return undefined;
    if (typeof listener === 'string')
      return {
        gateway,
        listener: undefined,
        decision: { type: 'answer', reason: listener },
        filters: [],
        authorization: undefined,
        shares: [],
      };
    const decision = decide(this, listener, request);
    const settled = settledDecision(decision);
    const shares =
      settled.type === 'forward'
        ? sharesOf(settled.taken.rule.backends, (backend) => this.resultOf(backend, settled.taken, request))
        : [];
    return {
      gateway,
      listener,
      decision,
      filters: filtersBefore(prepareListenerFilters(listener), listener, request).map((filter) =>
        this.authorizationOf(filter, request),
      ),
      authorization: decision.type === 'authorize' ? this.authorizationOf(decision.authorization, request) : undefined,
      shares,
    };
  }

  private authorizationOf(authorization: Authorization, request: ArrivingRequest): AuthorizationOutcome {
    const endpoints = decideAuthorization(authorization, this.endpoints);
    if (typeof endpoints !== 'string')
      return { authorization, result: { type: 'ask', endpoints, target: authorizationTarget(authorization, request) } };
    return { authorization, result: this.answered(authorization, endpoints) };
  }

  private listenerFor({ serverName, host }: ArrivingRequest): ReturnType<ListenerIndex['listenerFor']> | undefined {
    if (serverName === undefined) return this.listeners.listenerFor(host);
    const connection = this.listeners.select(serverName);
    if (connection === undefined) return 'no-listener';
    return connection.protocol === 'TLS' ? undefined : this.listeners.listenerFor(host, connection);
  }

  private resultOf(
    backend: PreparedBackend | undefined,
    { matched }: Taken<PreparedRule>,
    request: ArrivingRequest,
  ): BackendShare['result'] {
    const endpoints = decideBackend(backend, this.endpoints);
    if (backend === undefined || typeof endpoints === 'string')
      return this.answered(backend, typeof endpoints === 'string' ? endpoints : 'no-backend');
    const mirrors = backend.mirrors.map((mirror) => ({ mirror, endpoints: this.mirroredTo(mirror) }));
    return {
      type: 'send',
      endpoints,
      target: forwardedTarget(backend, request, matched),
      host: forwardedHost(backend, request.authority),
      mirrors,
    };
  }

  private answered<R>(
    backend: Pick<PreparedBackend, 'problem' | 'endpoints'> | undefined,
    reason: R,
  ): AnsweredShare<R> | UnknownShare {
    const endpoints = this.endpoints(backend?.endpoints ?? '');
    const detail = backend?.problem?.reason ?? endpoints?.failure;
    return unlessUnknown(backend?.problem ?? endpoints, { type: 'answer', reason, detail });
  }

  private mirroredTo({ target }: MirrorFilter): EndpointsConfig | undefined {
    const endpoints = decideBackend(
      { endpoints: target.type === 'endpoints' ? target.key : undefined },
      this.endpoints,
    );
    return typeof endpoints === 'string' ? undefined : endpoints;
  }
}

/** The decision for permitted requests: skips authorization. */
export function settledDecision(
  decision: Outcome['decision'],
): Exclude<Outcome['decision'], { readonly type: 'authorize' }> {
  return decision.type === 'authorize' ? decision.permitted : decision;
}

/** Returns the result for a backend without endpoints; unless it is unknown whether there are any. */
export function unlessUnknown<R>(missing: InvalidTarget | EndpointsConfig | undefined, result: R): R | UnknownShare {
  if (missing?.unobserved === undefined || ('failure' in missing && missing.failure !== undefined)) return result;
  return { type: 'unknown', unobserved: missing.unobserved };
}
