import type { ConfigKey } from '../core/routing/config.ts';
import type { AddressRange } from '../core/text/ip-address.ts';
import type { AccessLogEntry } from './handling/access-log.ts';
import { LocalUsedTraces, Tracing } from './messages/tracing.ts';
import type { Address } from './sockets/address.ts';
import { bindFailure, bindingsOf, type Bind, type Binding } from './bindings.ts';
import { Configuration } from './configuration.ts';
import type { PreparedTransaction, Transaction } from './configuration.ts';
import { createCounters } from './counters.ts';
import type { ProxyCounters } from './counters.ts';
import type { DataPlane } from './data-plane.ts';
import { EndpointRegistry, type Suspension } from './upstream/endpoints.ts';
import { ExternalNames, type NameReport } from './upstream/external-names.ts';
import { dnsLookup, type NameLookup } from './upstream/name-lookup.ts';
import type { Forwarder } from './messages/forwarder.ts';
import type { ForwardedPolicy } from './messages/forwarding-fields.ts';
import { Front, queuesAccepted } from './front.ts';
import type { ListenerProblems } from './front.ts';
import type { ConnectionLogEntry } from './layer4/connection-log.ts';
import { FlowOrder } from './layer4/flow-order.ts';
import { OwnConnections } from './layer4/own-connections.ts';
import { UdpPort } from './layer4/udp-port.ts';
import { defaultLimits } from './limits/limits.ts';
import type { ProxyLimits } from './limits/limits.ts';
import { ProtocolForwarder } from './upstream/protocol-forwarder.ts';
import type { ProxyProtocolSettings } from './proxy-protocol/settings.ts';
import { createQuotas } from './limits/quota.ts';
import { LocalTally } from '../fairness/tally.ts';
import type { SessionKeyMaterial } from './sessions/session-keys.ts';
import { Sessions } from './sessions/sessions.ts';
import type { SharedState } from './shared-state.ts';
import { Identities, type CertificateSource } from './listen/identities.ts';
import { monotonicNow, wallNow } from '../time/clock.ts';

export interface ProxyOptions {
  readonly bind: Bind;
  readonly certificates: CertificateSource;
  /** Called with one entry per completed request; must not throw. If undefined, no entries are created. */
  readonly accessLog?: (entry: AccessLogEntry) => void;
  /** The same for connections and flows of TCP, TLS and UDP listeners. */
  readonly connectionLog?: (entry: ConnectionLogEntry) => void;
  readonly forwarded?: ForwardedPolicy;
  /** If undefined, PROXY protocol headers are neither accepted nor sent. */
  readonly proxyProtocol?: ProxyProtocolSettings;
  /** Receives unexpected errors after the affected work has been ended. If undefined, they are thrown where nothing is left to end. */
  readonly onFault?: (error: unknown) => void;
  readonly limits?: Partial<ProxyLimits>;
  readonly forwarder?: Forwarder;
  /** Internal networks in which names of external backends may be. If undefined, internal addresses are refused. */
  readonly internalBackendNetworks?: readonly AddressRange[];
  /** Resolves names of external backends. If undefined, by DNS with the servers of the system. */
  readonly lookup?: NameLookup;
  /** Called when the name of an external backend begins or ceases to have a problem; must not throw. */
  readonly nameReport?: (report: NameReport) => void;
  /** Counters to add to, for several data planes in one process. If undefined, it has its own. */
  readonly counters?: ProxyCounters;
  /** If this data plane is one of several threads: their common state, with its counters. */
  readonly shared?: SharedState;
  /** Milliseconds of a monotonic clock; default: `monotonicNow`. */
  readonly now?: () => number;
}

/** The reason why an active resource does not work as configured, for people. */
export interface ConfigProblem {
  readonly key: ConfigKey;
  readonly message: string;
  /** Set if a port could not be bound: it may be free later. A transaction tries again, even one without content. */
  readonly isWorthRetry?: true;
}

/** The data plane: forwards traffic according to listeners, routes and endpoints. */
export interface Proxy {
  /**
   * Applies a transaction atomically. Returns all problems of the configuration that is now active: ports that cannot
   * be bound, invalid certificates, duplicate hostnames. Failed binds are retried with each transaction. Requests in
   * progress keep their match. Transactions apply in order.
   */
  apply(transaction: Transaction): Promise<readonly ConfigProblem[]>;
  /** The bound addresses of a listener; empty if binding failed. */
  addressesOf(listener: ConfigKey): readonly Address[];
  /** Reloads the certificates of all listeners from their source. Call it when a Secret has changed. */
  reloadCertificates(): Promise<readonly ConfigProblem[]>;
  /** Replaces the keys for session persistence. Without keys, requests are served without it. */
  setSessionKeys(keys: readonly SessionKeyMaterial[]): void;
  /** Sets the key for traces (`traceKeyOf`); `undefined`: traces are ignored, as before the first call. */
  setTraceKey(key: string | undefined): void;
  counters(): ProxyCounters;
  /**
   * From now on every connection ends with its next response; new ones are still accepted. Call it some time before
   * `close`, so that no connection is closed while its client sends a request.
   */
  retire(): void;
  /**
   * Closes the data plane: accepts no connections, completes current responses, and closes the rest after `graceMs`.
   * Idle connections end with their next response, or after `idleMs` (default 0).
   */
  close(options: { readonly graceMs: number; readonly idleMs?: number }): Promise<void>;
}

/** Creates a data plane without configuration. It binds no port until a listener is applied. */
export function createProxy(options: ProxyOptions): Proxy {
  return new DataPlaneProxy(options);
}

/** Milliseconds for which a datagram may wait in a socket after its flow has ended, with a margin. */
export const flowMemory = 2_000;

/** The data plane of one thread. */
export class DataPlaneProxy implements Proxy {
  private readonly options: ProxyOptions;
  private readonly plane: DataPlane;
  private readonly configuration: Configuration;
  /** By requested address. */
  private readonly fronts = new Map<string, Front | UdpPort>();
  private readonly flows: FlowOrder;
  private readonly names: ExternalNames;
  private identities: Identities;
  /** Removed ports whose connections and flows have not ended yet. */
  private readonly leaving = new Map<Front | UdpPort, Promise<void>>();
  /** Those of UDP, by requested address. */
  private readonly leavingDatagrams = new Map<string, UdpPort>();
  private bindings: ReadonlyMap<string, Binding> = new Map();
  private bindFailures: ReadonlyMap<string, string> = new Map();
  private listenerProblems: readonly ListenerProblems[] = [];
  private queue: Promise<unknown> = Promise.resolve();
  private retired = false;
  private closed = false;

  constructor(options: ProxyOptions) {
    this.options = options;
    this.identities = new Identities(options.certificates);
    const limits = { ...defaultLimits, ...options.limits };
    const fault = options.onFault ?? throwLater;
    const { shared } = options;
    const state = shared ?? ownState(options.counters);
    const { counters, tally, ownConnections, ownFlows } = state;
    const quotas = createQuotas(limits, counters, tally);
    const forwarder = options.forwarder ?? new ProtocolForwarder(limits, fault, quotas);
    this.names = new ExternalNames({
      lookup: options.lookup ?? dnsLookup(limits.nameTimeout),
      allowed: options.internalBackendNetworks ?? [],
      limits,
      counters: counters.names,
      report: options.nameReport ?? (() => undefined),
    });
    const endpoints = new EndpointRegistry((upstream) => forwarder.release(upstream), this.names, shared);
    const configuration = new Configuration(endpoints);
    this.configuration = configuration;
    this.flows = new FlowOrder(limits, quotas.reached, tally('udp-flows'));
    this.plane = {
      match: (listener, request) => configuration.table.match(listener, request),
      ruleOf: (matched) => configuration.ruleOf(matched),
      endpoints,
      layer4: configuration.layer4,
      ownConnections,
      ownFlows,
      forwarder,
      certificates: options.certificates,
      now: options.now ?? monotonicNow,
      sessions: new Sessions(counters.sessions),
      limits,
      quotas,
      tracing: new Tracing(wallNow, state.traces),
      ticketKeys: shared?.ticketKeys,
      sharesPorts: shared !== undefined,
      forwardedPolicy: options.forwarded ?? 'append',
      proxyProtocol: options.proxyProtocol ?? {},
      counters,
      fault,
      accessLog: options.accessLog,
      connectionLog: options.connectionLog,
    };
  }

  apply(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    const applied = this.enqueue(() => this.applyNow(transaction));
    void this.enqueue(() => this.configuration.sweep());
    return applied;
  }

  reloadCertificates(): Promise<readonly ConfigProblem[]> {
    return this.enqueue(async () => {
      this.configureFronts(await this.identities.renew(this.configuration.listeners.values()));
      return this.problems();
    });
  }

  setSessionKeys(keys: readonly SessionKeyMaterial[]): void {
    this.plane.sessions.setKeys(keys);
  }

  addressesOf(listener: ConfigKey): readonly Address[] {
    return [...this.bindings].flatMap(([name, { listeners }]) => {
      const address = listeners.some(({ key }) => key === listener) ? this.fronts.get(name)?.address : undefined;
      return address === undefined ? [] : [address];
    });
  }

  setTraceKey(key: string | undefined): void {
    this.plane.tracing.setKey(key);
  }

  /** Applies the suspension of an endpoint by another thread. */
  suspend(endpoint: string, suspension: Suspension): void {
    this.plane.endpoints.suspend(endpoint, suspension, this.plane.now());
  }

  counters(): ProxyCounters {
    return this.plane.counters;
  }

  retire(): void {
    this.retired = true;
    for (const front of this.fronts.values()) front.retire();
  }

  close({ graceMs, idleMs = 0 }: { readonly graceMs: number; readonly idleMs?: number }): Promise<void> {
    return this.enqueue(async () => {
      this.closed = true;
      // Removed ports get no more time than the others.
      const fronts = [...this.fronts.values(), ...this.leaving.keys()];
      this.fronts.clear();
      await queuesAccepted();
      await Promise.all(fronts.map((front) => front.drain(graceMs, idleMs)));
      await this.plane.forwarder.close();
      this.names.close();
    });
  }

  /** Serializes changes: the next one begins after this one has succeeded or failed. */
  private enqueue<T>(change: () => Promise<T>): Promise<T> {
    const result = this.queue.then(change);
    this.queue = result.catch(() => undefined);
    return result;
  }

  private async applyNow(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    if (this.closed) return [];
    const prepared = await this.configuration.prepare(transaction);
    try {
      return await this.applyPrepared(prepared);
    } catch (error) {
      this.configuration.discard(prepared);
      throw error;
    }
  }

  private async applyPrepared(prepared: PreparedTransaction): Promise<readonly ConfigProblem[]> {
    const listeners = this.configuration.listenersAfter(prepared);
    const sameListeners = listeners === this.configuration.listeners;
    const bindings = sameListeners ? this.bindings : bindingsOf(listeners, this.options.bind);
    const opened = await this.openMissing(bindings);
    const isReconfigured = !sameListeners || opened.size > 0;
    const identities = isReconfigured ? await this.identities.renew(listeners.values()) : this.identities;
    const doneWithNames = await this.names.prepare(namesIn(prepared), this.plane.limits.namePreparation);
    // No await from here to the end: no request sees half of the transaction.
    this.configuration.apply(prepared);
    doneWithNames();
    this.bindings = bindings;
    for (const [name, front] of opened) this.fronts.set(name, front);
    if (this.retired) this.retire();
    if (isReconfigured) this.configureFronts(identities);
    this.drainUnused();
    return this.problems();
  }

  private async openMissing(bindings: ReadonlyMap<string, Binding>): Promise<Map<string, Front | UdpPort>> {
    const opened = new Map<string, Front | UdpPort>();
    const failures = new Map<string, string>();
    for (const [name, { address, transport }] of bindings) {
      if (this.fronts.has(name)) continue;
      try {
        const front = await this.open(name, { address, transport });
        opened.set(name, front);
      } catch (error) {
        failures.set(name, bindFailure(name, error));
      }
    }
    this.bindFailures = failures;
    return opened;
  }

  private async open(
    name: string,
    { address, transport }: Pick<Binding, 'address' | 'transport'>,
  ): Promise<Front | UdpPort> {
    const returning = await this.returning(name);
    if (returning !== undefined) return returning;
    const front = transport === 'udp' ? new UdpPort(this.plane, this.flows) : new Front(this.plane);
    await front.listen(address);
    return front;
  }

  /** Returns a removed UDP port for further use: it is bound until its flows have ended, so no other one can be bound meanwhile. */
  private async returning(name: string): Promise<UdpPort | undefined> {
    const port = this.leavingDatagrams.get(name);
    if (port === undefined) return undefined;
    const drain = this.leaving.get(port);
    const stays = port.stay();
    if (!stays) await drain;
    this.forget(name, port);
    return stays ? port : undefined;
  }

  private configureFronts(identities: Identities): void {
    const replaced = this.identities.replacedBy(identities);
    this.identities = identities;
    const problems: ListenerProblems[] = [];
    for (const [name, { listeners }] of this.bindings) {
      const front = this.fronts.get(name);
      if (front !== undefined) problems.push(front.configure(listeners, identities));
    }
    this.listenerProblems = problems;
    for (const context of replaced) this.plane.quotas.contexts.leave(context);
  }

  private drainUnused(): void {
    for (const [name, front] of this.fronts) {
      if (this.bindings.has(name)) continue;
      this.fronts.delete(name);
      const drain = front.drain(this.plane.limits.drainTimeout).finally(() => {
        if (this.leaving.get(front) === drain) this.forget(name, front);
      });
      this.leaving.set(front, drain);
      if (front instanceof UdpPort) this.leavingDatagrams.set(name, front);
    }
  }

  private forget(name: string, front: Front | UdpPort): void {
    this.leaving.delete(front);
    if (this.leavingDatagrams.get(name) === front) this.leavingDatagrams.delete(name);
  }

  private problems(): ConfigProblem[] {
    const problems: ConfigProblem[] = [];
    for (const [name, message] of this.bindFailures) {
      for (const { key } of this.bindings.get(name)?.listeners ?? [])
        problems.push({ key, message, isWorthRetry: true });
    }
    for (const ofFront of this.listenerProblems) {
      for (const [key, messages] of ofFront) problems.push(...messages.map((message) => ({ key, message })));
    }
    return problems;
  }
}

/** The state of a data plane with one thread. */
function ownState(
  counters = createCounters(),
): Pick<SharedState, 'counters' | 'tally' | 'traces' | 'ownConnections' | 'ownFlows'> {
  return {
    counters,
    tally: () => new LocalTally(),
    traces: new LocalUsedTraces(),
    // A closed connection can no longer be accepted.
    ownConnections: new OwnConnections(0),
    ownFlows: new OwnConnections(flowMemory),
  };
}

function namesIn({ upserts }: Transaction): readonly string[] {
  return upserts.flatMap((resource) => (resource.kind === 'endpoints' ? (resource.external?.hostname ?? []) : []));
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
