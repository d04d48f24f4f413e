import { createProxyWorkers, type ProxyWorkers, type WorkersOptions } from '../../proxy/workers/pool.ts';
import { outputTo, type Logger, type Metrics } from '../../telemetry/index.ts';
import { divideHeap } from './divide-heap.ts';
import type { InternalErrors } from './internal-errors.ts';
import { returnMemory } from './memory-return.ts';
import type { ReadinessGate } from './readiness.ts';
import type { Shutdown } from './shutdown.ts';

/** The parts of a process that its workers report to. */
export interface WorkersProcess {
  readonly workers: number;
  /** Whether requests and connections are logged. */
  readonly logs: boolean;
  readonly log: Logger;
  readonly errors: InternalErrors;
  readonly metrics: Metrics;
  readonly readiness: ReadinessGate;
  readonly running: Shutdown;
}

/** Starts a data plane with several workers. The process is ready as long as one of them serves. */
export function startWorkers(
  settings: Omit<WorkersOptions, 'workers' | 'script' | 'writeLines' | 'onFault' | 'onWorkerEnd' | 'pace'>,
  { workers, logs, log, errors, metrics, readiness, running }: WorkersProcess,
): ProxyWorkers {
  divideHeap(workers);
  const proxy = createProxyWorkers({
    ...settings,
    workers,
    script: workerScript(),
    writeLines: logs && log.isLevelEnabled('info') ? (text) => outputTo(process.stderr).write(text) : undefined,
    onFault: (error, origin) => errors.take(origin, error),
    onWorkerEnd: (worker, error) => {
      errors.take('worker', error);
      log.error({ worker }, 'a worker has ended with its connections, another one replaces it');
    },
  });
  metrics.observed({ name: 'proxy_workers', help: 'Threads that serve traffic.', labels: [] }, () => [
    { labels: [], value: proxy.serving },
  ]);
  readiness.require(() => (proxy.serving > 0 ? [] : ['no worker is running']));
  const { buffered } = proxy.counters();
  returnMemory(
    running,
    () => buffered.used,
    () => proxy.utilization(),
  );
  return proxy;
}

/** The program of a worker: next to this one if it is bundled, or among the sources. */
function workerScript(): URL {
  const { url } = import.meta;
  return url.endsWith('.ts') ? new URL('../proxy-worker.ts', url) : new URL('proxy-worker.js', url);
}
