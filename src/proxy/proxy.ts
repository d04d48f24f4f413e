import { isReserved, type ConfigKey, type ListenerConfig } from '../core/routing/config.ts';
import type { AccessLogEntry } from './access-log.ts';
import { formatAddress } from './address.ts';
import type { Address } from './address.ts';
import { Configuration } from './configuration.ts';
import type { Transaction } from './configuration.ts';
import { createCounters } from './counters.ts';
import type { ProxyCounters } from './counters.ts';
import type { DataPlane } from './data-plane.ts';
import { EndpointRegistry } from './endpoints.ts';
import type { Forwarder } from './forwarder.ts';
import type { ForwardedPolicy } from './forwarding-fields.ts';
import { Front, wholeTurn } from './front.ts';
import type { ListenerProblems } from './front.ts';
import type { ConnectionLogEntry } from './layer4/connection-log.ts';
import { FlowOrder } from './layer4/flow-order.ts';
import { OwnConnections } from './layer4/own-connections.ts';
import { UdpPort } from './layer4/udp-port.ts';
import { defaultLimits } from './limits.ts';
import type { ProxyLimits } from './limits.ts';
import { ProtocolForwarder } from './protocol-forwarder.ts';
import type { ProxyProtocolSettings } from './proxy-protocol/settings.ts';
import { createQuotas } from './quota.ts';
import type { CertificateSource } from './tls-termination.ts';

export interface ProxyOptions {
  /** Where a listener is bound. Listeners that get the same address share it; port 0 counts as an address too. */
  readonly bind: (listener: ListenerConfig) => readonly Address[];
  readonly certificates: CertificateSource;
  /** Takes one entry for each ended request and must not throw; absent, none is made. */
  readonly accessLog?: (entry: AccessLogEntry) => void;
  /** The same for connections and flows of TCP, TLS and UDP listeners. */
  readonly connectionLog?: (entry: ConnectionLogEntry) => void;
  readonly forwarded?: ForwardedPolicy;
  /** Absent: headers of the PROXY protocol are neither accepted nor sent. */
  readonly proxyProtocol?: ProxyProtocolSettings;
  /** Takes errors that nobody foresaw, once what they concern has been ended; absent, they are thrown where nothing is left to end. */
  readonly onFault?: (error: unknown) => void;
  readonly limits?: Partial<ProxyLimits>;
  readonly forwarder?: Forwarder;
}

/** Why a resource that is in force does not work as configured, for people. */
export interface ConfigProblem {
  readonly key: ConfigKey;
  readonly message: string;
}

/** The data plane: listeners, routes and endpoints in, traffic through. */
export interface Proxy {
  /**
   * Applies a transaction whole and answers with everything in the configuration now in force that does not work:
   * ports that cannot be bound, certificates that cannot be used, hostnames served twice. What could not be bound is
   * tried again with each transaction. Requests under way keep what they matched. Transactions apply in order.
   */
  apply(transaction: Transaction): Promise<readonly ConfigProblem[]>;
  /** Where a listener is bound; none where it could not be bound. */
  addressesOf(listener: ConfigKey): readonly Address[];
  /** Takes the certificates of all listeners anew from their source; call it when a Secret has changed. */
  reloadCertificates(): Promise<readonly ConfigProblem[]>;
  counters(): ProxyCounters;
  /**
   * From now on every connection ends with its next answer; new ones are still taken. Clients that are told some time before
   * `close` find no connection closed under the request that they are sending.
   */
  retire(): void;
  /**
   * Ends the data plane: no new connections, answers under way completed, the rest cut off after `graceMs`. Idle connections end with
   * their next answer, or after `idleMs` (0 unless given).
   */
  close(options: { readonly graceMs: number; readonly idleMs?: number }): Promise<void>;
}

/** Creates a data plane without configuration: it is bound to nothing until a listener is applied. */
export function createProxy(options: ProxyOptions): Proxy {
  return new DataPlaneProxy(options);
}

/** The addresses that a set of listeners asks for. */
interface Binding {
  readonly address: Address;
  readonly transport: 'tcp' | 'udp';
  readonly listeners: ListenerConfig[];
}

/** Milliseconds for which a datagram may wait in a socket after its flow has ended, with room to spare. */
const flowMemory = 2_000;

class DataPlaneProxy implements Proxy {
  private readonly options: ProxyOptions;
  private readonly plane: DataPlane;
  private readonly configuration: Configuration;
  /** By the address that was asked for. */
  private readonly fronts = new Map<string, Front | UdpPort>();
  private readonly flows: FlowOrder;
  private readonly drains = new Set<Promise<void>>();
  private bindings: ReadonlyMap<string, Binding> = new Map();
  private bindFailures: ReadonlyMap<string, string> = new Map();
  private listenerProblems: readonly ListenerProblems[] = [];
  private queue: Promise<unknown> = Promise.resolve();
  private retired = false;
  private closed = false;

  constructor(options: ProxyOptions) {
    this.options = options;
    const limits = { ...defaultLimits, ...options.limits };
    const fault = options.onFault ?? throwLater;
    const counters = createCounters();
    const quotas = createQuotas(limits, counters);
    const forwarder = options.forwarder ?? new ProtocolForwarder(limits, fault, quotas);
    const endpoints = new EndpointRegistry((upstream) => forwarder.release(upstream));
    const configuration = new Configuration(endpoints);
    this.configuration = configuration;
    this.flows = new FlowOrder(limits, quotas.reached);
    this.plane = {
      match: (listener, request) => configuration.table.match(listener, request),
      ruleOf: (matched) => configuration.ruleOf(matched),
      endpoints,
      layer4: configuration.layer4,
      // A connection cannot be accepted any more once it has been closed.
      ownConnections: new OwnConnections(0),
      ownFlows: new OwnConnections(flowMemory),
      forwarder,
      certificates: options.certificates,
      limits,
      quotas,
      forwardedPolicy: options.forwarded ?? 'append',
      proxyProtocol: options.proxyProtocol ?? {},
      counters,
      fault,
      accessLog: options.accessLog,
      connectionLog: options.connectionLog,
    };
  }

  apply(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    return this.enqueue(() => this.applyNow(transaction));
  }

  reloadCertificates(): Promise<readonly ConfigProblem[]> {
    return this.enqueue(() => {
      this.configureFronts();
      return Promise.resolve(this.problems());
    });
  }

  addressesOf(listener: ConfigKey): readonly Address[] {
    return [...this.bindings].flatMap(([name, { listeners }]) => {
      const address = listeners.some(({ key }) => key === listener) ? this.fronts.get(name)?.address : undefined;
      return address === undefined ? [] : [address];
    });
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
      const fronts = [...this.fronts.values()];
      this.fronts.clear();
      // A port that closes resets the connections that stand and that nobody has taken yet.
      await wholeTurn();
      await Promise.all([...fronts.map((front) => front.drain(graceMs, idleMs)), ...this.drains]);
      await this.plane.forwarder.close();
    });
  }

  /** One change at a time: the next one begins where this one has ended, well or badly. */
  private enqueue<T>(change: () => Promise<T>): Promise<T> {
    const result = this.queue.then(change);
    this.queue = result.catch(() => undefined);
    return result;
  }

  private async applyNow(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    if (this.closed) return [];
    const prepared = await this.configuration.prepare(transaction);
    const listeners = this.configuration.listenersAfter(transaction);
    const sameListeners = listeners === this.configuration.listeners;
    const bindings = sameListeners ? this.bindings : this.bindingsOf(listeners);
    const opened = await this.openMissing(bindings);
    // From here to the end nothing waits: no request sees one half of the transaction without the other.
    this.configuration.apply(prepared);
    this.bindings = bindings;
    for (const [name, front] of opened) this.fronts.set(name, front);
    if (this.retired) this.retire();
    if (!sameListeners || opened.size > 0) this.configureFronts();
    this.drainUnused();
    return this.problems();
  }

  private bindingsOf(listeners: ReadonlyMap<ConfigKey, ListenerConfig>): Map<string, Binding> {
    const bindings = new Map<string, Binding>();
    for (const listener of listeners.values()) {
      const transport = listener.protocol === 'UDP' ? 'udp' : 'tcp';
      for (const address of this.options.bind(listener)) {
        // The same number of TCP and UDP are two ports.
        const name = `${formatAddress(address.host, address.port)}${transport === 'udp' ? '/udp' : ''}`;
        const binding = bindings.get(name) ?? { address, transport, listeners: [] };
        binding.listeners.push(listener);
        bindings.set(name, binding);
      }
    }
    for (const [name, { listeners: ofPort }] of bindings) if (ofPort.every(isReserved)) bindings.delete(name);
    return bindings;
  }

  private async openMissing(bindings: ReadonlyMap<string, Binding>): Promise<Map<string, Front | UdpPort>> {
    const opened = new Map<string, Front | UdpPort>();
    const failures = new Map<string, string>();
    for (const [name, { address, transport }] of bindings) {
      if (this.fronts.has(name)) continue;
      const front = transport === 'udp' ? new UdpPort(this.plane, this.flows) : new Front(this.plane);
      try {
        await front.listen(address);
        opened.set(name, front);
      } catch (error) {
        failures.set(name, bindFailure(name, error));
      }
    }
    this.bindFailures = failures;
    return opened;
  }

  private configureFronts(): void {
    const problems: ListenerProblems[] = [];
    for (const [name, { listeners }] of this.bindings) {
      const front = this.fronts.get(name);
      if (front !== undefined) problems.push(front.configure(listeners, this.options.certificates));
    }
    this.listenerProblems = problems;
  }

  private drainUnused(): void {
    for (const [name, front] of this.fronts) {
      if (this.bindings.has(name)) continue;
      this.fronts.delete(name);
      const drain: Promise<void> = front.drain(this.plane.limits.drainTimeout).finally(() => this.drains.delete(drain));
      this.drains.add(drain);
    }
  }

  private problems(): ConfigProblem[] {
    const problems: ConfigProblem[] = [];
    for (const [name, message] of this.bindFailures) {
      for (const { key } of this.bindings.get(name)?.listeners ?? []) problems.push({ key, message });
    }
    for (const ofFront of this.listenerProblems) {
      for (const [key, messages] of ofFront) problems.push(...messages.map((message) => ({ key, message })));
    }
    return problems;
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

const bindErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process already uses this port',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'binding this port needs a privilege that the process lacks',
};

function bindFailure(name: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const detail = bindErrors[code] ?? (error instanceof Error ? error.message : 'unknown error');
  return `cannot listen on ${name}: ${detail}`;
}
