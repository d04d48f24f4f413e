import { createHmac } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { ConfigKey } from '../../core/routing/config.ts';
import type { AccessLogEntry } from '../handling/access-log.ts';
import type { ConnectionLogEntry } from '../layer4/connection-log.ts';
import { talliesOf } from '../limits/shared-tally.ts';
import { DataPlaneProxy, type ConfigProblem } from '../proxy.ts';
import type { Address } from '../sockets/address.ts';
import { monotonicNow } from '../../time/clock.ts';
import { LineOutlet } from './line-outlet.ts';
import type { FaultOrigin, FromWorker, SentPair, Task, ToWorker, WorkerChange, WorkerData } from './messages.ts';
import { RelayedPasses } from './passes.ts';
import { countersOf } from './shared-counters.ts';
import { usedTracesIn } from './shared-traces.ts';

/** Functions that log, given one that writes a line. */
export type CreateLogs = (write: (line: string) => void) => {
  readonly accessLog: (entry: AccessLogEntry) => void;
  readonly connectionLog: (entry: ConnectionLogEntry) => void;
};

/** Errors that are described per second. All are counted. */
const described = 10;

/** Runs this thread as a worker of the data plane that has started it, until it ends the thread. */
export function serveAsWorker(createLogs: CreateLogs): void {
  if (parentPort === null) throw new Error('this program is a worker thread of a data plane');
  const worker = new DataPlaneWorker(workerData as WorkerData, createLogs);
  parentPort.on('message', (message: ToWorker) => worker.receive(message));
}

class DataPlaneWorker {
  private readonly proxy: DataPlaneProxy;
  private readonly outlet: LineOutlet;
  private readonly addresses = new Map<ConfigKey, readonly Address[]>();
  private readonly certificates = new Map<string, SentPair>();
  private readonly passes = {
    connections: new RelayedPasses('connections', post),
    flows: new RelayedPasses('flows', post),
  };

  constructor(data: WorkerData, createLogs: CreateLogs) {
    const { worker, workers, settings } = data;
    const outlet = new LineOutlet(worker, data.unwritten, (text) => post({ type: 'lines', text }));
    this.outlet = outlet;
    this.proxy = new DataPlaneProxy({
      ...settings,
      bind: ({ key }) => this.addresses.get(key) ?? [],
      certificates: (secret) => this.certificates.get(secret),
      onFault: (error) => fault('exchange', error),
      nameReport: (report) => post({ type: 'name', report }),
      ...(data.logs && createLogs((line) => outlet.write(line))),
      shared: {
        thread: worker,
        threads: workers,
        suspended: (endpoint, suspension) => post({ type: 'suspension', endpoint, suspension }),
        counters: countersOf(data.counters, worker),
        tally: talliesOf(data.tallies, worker),
        traces: usedTracesIn(data.traces),
        ownConnections: this.passes.connections,
        ownFlows: this.passes.flows,
        ticketKeys: (validation) =>
          createHmac('sha384', data.ticketSecret).update(`session tickets ${validation}`).digest(),
      },
    });
    const beats = new Int32Array(data.beats);
    setInterval(() => Atomics.add(beats, worker, 1), data.beat).unref();
    process.on('uncaughtException', (error) => fault('exception', error));
    process.on('unhandledRejection', (error) => fault('rejection', error));
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'task':
        void this.perform(message.id, message.task);
        return;
      case 'sessionKeys':
        this.proxy.setSessionKeys(message.keys);
        return;
      case 'traceKey':
        this.proxy.setTraceKey(message.key);
        return;
      case 'retire':
        this.proxy.retire();
        return;
      case 'suspension':
        this.proxy.suspend(message.endpoint, message.suspension);
        return;
      case 'looped':
        this.passes[message.scope].looped(message.pass);
    }
  }

  private async perform(id: number, task: Task): Promise<void> {
    try {
      const problems = task.name === 'close' ? await this.close(task) : await this.apply(task.change);
      post({ type: 'done', id, problems });
    } catch (error) {
      post({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
    }
  }

  private async close(times: { readonly graceMs: number; readonly idleMs: number }): Promise<readonly []> {
    await this.proxy.close(times);
    // The main thread ends this one with the answer.
    this.outlet.flush();
    return [];
  }

  private async apply({ addresses, certificates, ...transaction }: WorkerChange): Promise<readonly ConfigProblem[]> {
    for (const [listener, bound] of addresses) this.addresses.set(listener, bound);
    for (const key of transaction.removals) this.addresses.delete(key);
    // Before the listeners that use them.
    for (const [secret, pair] of certificates) if (pair !== undefined) this.certificates.set(secret, pair);
    const problems = await this.proxy.apply(transaction);
    for (const [secret, pair] of certificates) if (pair === undefined) this.certificates.delete(secret);
    return certificates.length > 0 ? this.proxy.reloadCertificates() : problems;
  }
}

function post(message: FromWorker): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(message);
}

let second = 0;
let inSecond = 0;

/** Reports an unexpected error. Further errors of the same second are reported without their description. */
function fault(origin: FaultOrigin, error: unknown): void {
  const now = Math.floor(monotonicNow() / 1_000);
  if (now !== second) [second, inSecond] = [now, 0];
  inSecond += 1;
  // Only plain errors can be sent for sure.
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  post({ type: 'fault', origin, error: inSecond > described ? undefined : { name, message, stack } });
}
