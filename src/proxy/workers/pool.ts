import { randomBytes, randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { ConfigKey, ConfigResource, ListenerConfig } from '../../core/routing/config.ts';
import type { Transaction } from '../configuration.ts';
import type { ProxyCounters } from '../counters.ts';
import { defaultLimits, type ProxyLimits } from '../limits/limits.ts';
import { sharedQuotas } from '../limits/quota.ts';
import { clearThread, createSharedTallies, talliesOf } from '../limits/shared-tally.ts';
import type { ConfigProblem, Proxy, ProxyOptions } from '../proxy.ts';
import type { SessionKeyMaterial } from '../sessions/session-keys.ts';
import type { Address } from '../sockets/address.ts';
import { monotonicNow } from '../../time/clock.ts';
import { written } from './line-outlet.ts';
import type { FaultOrigin, FromWorker, Task, ToWorker, WorkerChange, WorkerData } from './messages.ts';
import { NameReports } from './name-reports.ts';
import { PassRelay } from './passes.ts';
import { SharedPorts } from './ports.ts';
import { SentCertificates } from './sent-certificates.ts';
import { clearPresent, createSharedCounters, summedCounters } from './shared-counters.ts';
import { createSharedTraces } from './shared-traces.ts';

/** Settings of a data plane that serves in several threads. */
export interface WorkersOptions extends Pick<
  ProxyOptions,
  'bind' | 'certificates' | 'forwarded' | 'proxyProtocol' | 'limits' | 'internalBackendNetworks' | 'nameReport'
> {
  /** The number of workers, at least 2. */
  readonly workers: number;
  /** The program of a worker, which calls `serveAsWorker`. */
  readonly script: URL;
  /** Writes whole lines of logs. If undefined, requests and connections are not logged. */
  readonly writeLines?: ((text: string) => void) | undefined;
  /** Receives unexpected errors in workers. The affected exchange or connection has been ended. */
  readonly onFault: (error: unknown, origin: FaultOrigin) => void;
  /** Called after a worker has ended without a request. Its connections are lost, and another worker replaces it. */
  readonly onWorkerEnd: (worker: number, error: unknown) => void;
  readonly pace?: Partial<WorkerPace>;
}

/** Milliseconds. */
export interface WorkerPace {
  /** Before a worker is replaced. Doubled if the replacement ends early, too, up to `longestPause`. */
  readonly pause: number;
  readonly longestPause: number;
  /** A worker whose event loop has not run in three such intervals is replaced. */
  readonly check: number;
}

const defaultPace: WorkerPace = { pause: 100, longestPause: 10_000, check: 10_000 };
const silentChecks = 3;

/** A data plane that serves in several threads. */
export interface ProxyWorkers extends Proxy {
  /** The number of workers that have the configuration. */
  readonly serving: number;
  /** The share of time in which the busiest worker was active since the last call, from 0 to 1. */
  utilization(): number;
}

/** Starts the workers of a data plane without configuration. See docs/adr/0020-workers.md. */
export function createProxyWorkers(options: WorkersOptions): ProxyWorkers {
  return new WorkerPool(options);
}

/** A running worker. */
interface Running {
  readonly thread: Worker;
  readonly startedAt: number;
  /** Callbacks of tasks without an answer. `undefined`: the worker has ended. */
  readonly tasks: Map<number, (answer: Answer | undefined) => void>;
  /** Whether it has the configuration. */
  serves: boolean;
  /** The last known number of beats, and the checks since it has changed. */
  beats: number;
  silent: number;
  utilization: ReturnType<Worker['performance']['eventLoopUtilization']> | undefined;
}

/** The parts of a change that follow from listeners. */
interface Placed {
  /** Listeners with other addresses. */
  readonly moved: readonly ConfigKey[];
  readonly certificates: WorkerChange['certificates'];
}

type Answer = Extract<FromWorker, { type: 'done' | 'failed' }>;

class WorkerPool implements ProxyWorkers {
  private readonly options: WorkersOptions;
  private readonly pace: WorkerPace;
  private readonly data: Omit<WorkerData, 'worker'>;
  private readonly summed: ProxyCounters;
  private readonly running: (Running | undefined)[] = [];
  private readonly failures: number[];
  private readonly passes: PassRelay;
  private readonly ports: SharedPorts;
  private readonly held = new Map<ConfigKey, ConfigResource>();
  private listeners: ReadonlyMap<ConfigKey, ListenerConfig> = new Map();
  private readonly certificates: SentCertificates;
  /** The addresses that the workers have, as text, by listener. */
  private addresses: ReadonlyMap<ConfigKey, string> = new Map();
  private sessionKeys: readonly SessionKeyMaterial[] = [];
  private traceKey: string | undefined;
  private readonly names: NameReports;
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly watch: NodeJS.Timeout;
  private queue: Promise<unknown> = Promise.resolve();
  private lastTask = 0;
  private retired = false;
  private closing = false;

  constructor(options: WorkersOptions) {
    const { workers, forwarded, proxyProtocol, internalBackendNetworks } = options;
    this.options = options;
    this.pace = { ...defaultPace, ...options.pace };
    const limits = { ...defaultLimits, ...options.limits };
    this.data = {
      workers,
      settings: {
        ...(forwarded && { forwarded }),
        ...(proxyProtocol && { proxyProtocol }),
        ...(internalBackendNetworks && { internalBackendNetworks }),
        limits: { ...limits, ...divided(limits, workers) },
      },
      counters: createSharedCounters(workers),
      tallies: createSharedTallies(sharedQuotas, workers, randomInt(2 ** 32)),
      traces: createSharedTraces(),
      ticketSecret: randomBytes(48),
      beats: new SharedArrayBuffer(workers * Int32Array.BYTES_PER_ELEMENT),
      beat: this.pace.check / 5,
      unwritten: new SharedArrayBuffer(workers * Int32Array.BYTES_PER_ELEMENT),
      logs: options.writeLines !== undefined,
    };
    const buffered = talliesOf(this.data.tallies, 0)('buffered');
    this.summed = summedCounters(this.data.counters, {
      get used() {
        return buffered.total;
      },
    });
    this.failures = Array.from({ length: workers }, () => 0);
    this.passes = new PassRelay((worker, scope, pass) => this.send(worker, { type: 'looped', scope, pass }));
    this.names = new NameReports(options.nameReport ?? (() => undefined));
    this.ports = new SharedPorts(options.bind, workers);
    this.certificates = new SentCertificates(options.certificates);
    for (let worker = 0; worker < workers; worker += 1) this.start(worker);
    for (const running of this.running) if (running !== undefined) running.serves = true;
    this.watch = setInterval(() => this.check(), this.pace.check).unref();
  }

  get serving(): number {
    return this.running.filter((running) => running?.serves === true).length;
  }

  apply(transaction: Transaction): Promise<readonly ConfigProblem[]> {
    return this.enqueue(async () => {
      if (this.closing) return [];
      const { listeners: before, addresses } = this;
      const restorePorts = this.ports.mark();
      const earlier = this.heldFor(transaction);
      const listeners = this.hold(transaction);
      const isSame = listeners === this.listeners;
      // An address that could not be bound may be free now.
      const mayMove = !isSame || this.ports.hasFailures;
      if (mayMove) await this.ports.update(listeners);
      this.listeners = listeners;
      const moved = mayMove ? this.movedListeners() : [];
      const certificates = this.certificates.note(transaction) ? this.certificates.takeChanges() : [];
      try {
        const problems = await this.distribute(transaction, { moved, certificates });
        const replaced = earlier.map(([, resource]) => resource);
        this.names.forgetUnused(replaced, this.held.values());
        return problems;
      } catch (error) {
        // The workers keep the configuration that they had. A new worker must get that, too.
        this.listeners = before;
        this.addresses = addresses;
        restorePorts();
        for (const [key, resource] of earlier) {
          if (resource === undefined) this.held.delete(key);
          else this.held.set(key, resource);
        }
        throw error;
      }
    });
  }

  reloadCertificates(): Promise<readonly ConfigProblem[]> {
    return this.enqueue(() =>
      this.distribute({ upserts: [], removals: [] }, { moved: [], certificates: this.certificates.takeChanges() }),
    );
  }

  addressesOf(listener: ConfigKey): readonly Address[] {
    return this.ports.addressesOf(listener);
  }

  setSessionKeys(keys: readonly SessionKeyMaterial[]): void {
    this.sessionKeys = keys;
    this.broadcast({ type: 'sessionKeys', keys });
  }

  setTraceKey(key: string | undefined): void {
    this.traceKey = key;
    this.broadcast({ type: 'traceKey', key });
  }

  counters(): ProxyCounters {
    return this.summed;
  }

  utilization(): number {
    const shares = this.running.map((running) => {
      if (running === undefined) return 0;
      const { performance } = running.thread;
      const last = running.utilization;
      running.utilization = performance.eventLoopUtilization();
      return last === undefined ? 0 : performance.eventLoopUtilization(running.utilization, last).utilization;
    });
    return Math.max(...shares);
  }

  retire(): void {
    this.retired = true;
    this.broadcast({ type: 'retire' });
  }

  close({ graceMs, idleMs = 0 }: { readonly graceMs: number; readonly idleMs?: number }): Promise<void> {
    return this.enqueue(async () => {
      this.closing = true;
      for (const timer of this.timers) clearTimeout(timer);
      await this.all({ name: 'close', graceMs, idleMs });
      clearInterval(this.watch);
      await Promise.all(this.running.flatMap((running) => running?.thread.terminate() ?? []));
    });
  }

  private enqueue<T>(change: () => Promise<T>): Promise<T> {
    const result = this.queue.then(change);
    this.queue = result.catch(() => undefined);
    return result;
  }

  /** The resources that a transaction replaces or removes; `undefined` for new ones. */
  private heldFor({ upserts, removals }: Transaction): readonly (readonly [ConfigKey, ConfigResource | undefined])[] {
    return [...removals, ...upserts.map(({ key }) => key)].map((key) => [key, this.held.get(key)] as const);
  }

  /** Adds a transaction to the resources for new workers. Returns the listeners; the same map if none has changed. */
  private hold({ upserts, removals }: Transaction): ReadonlyMap<ConfigKey, ListenerConfig> {
    const changed = upserts.filter((resource) => resource.kind === 'listener');
    const gone = removals.filter((key) => this.listeners.has(key));
    for (const key of removals) this.held.delete(key);
    for (const resource of upserts) this.held.set(resource.key, resource);
    if (changed.length === 0 && gone.length === 0) return this.listeners;
    const next = new Map(this.listeners);
    for (const key of gone) next.delete(key);
    for (const listener of changed) next.set(listener.key, listener);
    return next;
  }

  /** Returns the listeners whose addresses the workers do not have yet. */
  private movedListeners(): readonly ConfigKey[] {
    const before = this.addresses;
    const now = [...this.listeners.keys()].map((key) => [key, JSON.stringify(this.ports.addressesOf(key))] as const);
    this.addresses = new Map(now);
    return now.flatMap(([key, text]) => (before.get(key) === text ? [] : [key]));
  }

  /** Sends a transaction to all workers. Returns all problems when each of them has applied it, or has ended. */
  private async distribute(
    transaction: Transaction,
    { moved, certificates }: Placed,
  ): Promise<readonly ConfigProblem[]> {
    const upserted = new Set(transaction.upserts.map(({ key }) => key));
    // A worker binds ports when a listener changes.
    const rebound = moved.flatMap((key) => (upserted.has(key) ? [] : (this.listeners.get(key) ?? [])));
    const change = { ...transaction, upserts: [...transaction.upserts, ...rebound], certificates };
    const answers = this.running.flatMap((running, worker) => {
      if (running?.serves !== true) return [];
      const addresses = this.addressesFor(worker, moved);
      return [this.perform(running, { name: 'apply', change: { ...change, addresses } })];
    });
    return this.problemsIn(await Promise.all(answers));
  }

  private problemsIn(answers: readonly (Answer | undefined)[]): readonly ConfigProblem[] {
    const problems = new Map<string, ConfigProblem>();
    const note = (found: readonly ConfigProblem[]): void => {
      for (const problem of found) problems.set(`${problem.key} ${problem.message}`, problem);
    };
    note(this.ports.problems());
    for (const answer of answers) {
      if (answer?.type === 'failed') throw new Error(answer.message);
      note(answer?.problems ?? []);
    }
    return [...problems.values()];
  }

  private addressesFor(worker: number, listeners: Iterable<ConfigKey>): WorkerChange['addresses'] {
    return [...listeners].map((key) => [key, this.ports.addressesOf(key, worker)] as const);
  }

  /** Starts a worker, or treats it as one that has ended: there may be no thread left for it, for example because of a limit of processes. */
  private startOrEnd(worker: number): Running | undefined {
    try {
      return this.start(worker);
    } catch (error) {
      this.ended(worker, error);
      return undefined;
    }
  }

  /** Starts a worker without configuration. */
  private start(worker: number): Running {
    const thread = new Worker(this.options.script, { workerData: { ...this.data, worker } satisfies WorkerData });
    const running: Running = {
      thread,
      startedAt: monotonicNow(),
      tasks: new Map(),
      serves: false,
      beats: 0,
      silent: 0,
      utilization: undefined,
    };
    this.running[worker] = running;
    let cause: unknown;
    thread.on('message', (message: FromWorker) => this.receive(worker, message));
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', (code) => this.ended(worker, cause ?? new Error(`the worker has ended with code ${code}`)));
    return running;
  }

  private receive(worker: number, message: FromWorker): void {
    switch (message.type) {
      case 'done':
      case 'failed': {
        const tasks = this.running[worker]?.tasks;
        tasks?.get(message.id)?.(message);
        tasks?.delete(message.id);
        return;
      }
      case 'fault':
        this.options.onFault(errorOf(message.error), message.origin);
        return;
      case 'lines':
        this.options.writeLines?.(message.text);
        written(this.data.unwritten, worker, message.text);
        return;
      case 'name':
        this.names.receive(message.report);
        return;
      case 'suspension':
        for (const other of this.running.keys()) if (other !== worker) this.send(other, message);
        return;
      case 'pass':
        this.passes.receive(worker, message);
    }
  }

  private ended(worker: number, error: unknown): void {
    const running = this.running[worker];
    this.running[worker] = undefined;
    clearThread(this.data.tallies, worker);
    clearPresent(this.data.counters, worker);
    new Int32Array(this.data.unwritten)[worker] = 0;
    this.passes.forget(worker);
    for (const answer of running?.tasks.values() ?? []) answer(undefined);
    if (this.closing) return;
    this.options.onWorkerEnd(worker, error);
    const { pause, longestPause } = this.pace;
    const wasShort = running === undefined || monotonicNow() - running.startedAt < longestPause;
    const failures = wasShort ? (this.failures[worker] ?? 0) : 0;
    this.failures[worker] = failures + 1;
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        void this.enqueue(() => this.replace(worker));
      },
      Math.min(pause * 2 ** failures, longestPause),
    );
    this.timers.add(timer);
  }

  /** Starts a worker with the whole configuration. */
  private async replace(worker: number): Promise<void> {
    if (this.closing) return;
    const running = this.startOrEnd(worker);
    if (running === undefined) return;
    this.send(worker, { type: 'sessionKeys', keys: this.sessionKeys });
    this.send(worker, { type: 'traceKey', key: this.traceKey });
    const addresses = this.addressesFor(worker, this.listeners.keys());
    const change = {
      upserts: [...this.held.values()],
      removals: [],
      addresses,
      certificates: this.certificates.all,
    };
    const answer = await this.perform(running, { name: 'apply', change });
    running.serves = answer?.type === 'done';
    if (answer?.type === 'failed') {
      this.options.onFault(new Error(answer.message), 'exchange');
      // Without the configuration it is useless. Another one replaces it later.
      void running.thread.terminate();
    }
    if (this.retired) this.send(worker, { type: 'retire' });
  }

  /** Ends workers whose event loop does not run. */
  private check(): void {
    const beats = new Int32Array(this.data.beats);
    for (const [worker, running] of this.running.entries()) {
      if (running === undefined) continue;
      const now = Atomics.load(beats, worker);
      running.silent = now === running.beats ? running.silent + 1 : 0;
      running.beats = now;
      if (running.silent >= silentChecks) void running.thread.terminate();
    }
  }

  private all(task: Task): Promise<readonly (Answer | undefined)[]> {
    return Promise.all(this.running.flatMap((running) => (running === undefined ? [] : [this.perform(running, task)])));
  }

  private perform({ thread, tasks }: Running, task: Task): Promise<Answer | undefined> {
    this.lastTask += 1;
    const id = this.lastTask;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    tasks.set(id, resolve);
    post(thread, { type: 'task', id, task });
    return promise;
  }

  private broadcast(message: ToWorker): void {
    for (const worker of this.running.keys()) this.send(worker, message);
  }

  private send(worker: number, message: ToWorker): void {
    const thread = this.running[worker]?.thread;
    if (thread !== undefined) post(thread, message);
  }
}

/** Limits that each worker has for itself: of TLS handshakes, and of its connections to an endpoint. */
function divided(
  { handshakes, connectionsPerEndpoint, waitingPerEndpoint }: ProxyLimits,
  workers: number,
): Partial<ProxyLimits> {
  return {
    handshakes: Math.ceil(handshakes / workers),
    connectionsPerEndpoint: Math.ceil(connectionsPerEndpoint / workers),
    waitingPerEndpoint: Math.ceil(waitingPerEndpoint / workers),
  };
}

function post(thread: Worker, message: ToWorker): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  thread.postMessage(message);
}

function errorOf(sent: Extract<FromWorker, { type: 'fault' }>['error']): unknown {
  return sent === undefined ? undefined : Object.assign(new Error(sent.message), sent);
}
