import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createProxyWorkers, type ProxyWorkers, type WorkersOptions } from '../../proxy/workers/pool.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
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

const mebibyte = 2 ** 20;

/** Starts a data plane with several workers. The process is ready as long as one of them serves. */
export function startWorkers(
  settings: Omit<WorkersOptions, 'workers' | 'script' | 'writeLines' | 'onFault' | 'onWorkerEnd' | 'pace'>,
  { workers, logs, log, errors, metrics, readiness, running }: WorkersProcess,
): ProxyWorkers {
  // The heaps of all workers together get what one process would get. The flag applies to threads that start from now on.
  const heap = Math.floor(getHeapStatistics().heap_size_limit / mebibyte / workers);
  setFlagsFromString(`--max-old-space-size=${heap}`);
  const proxy = createProxyWorkers({
    ...settings,
    workers,
    script: workerScript(),
    writeLines: logs && log.isLevelEnabled('info') ? (text) => void process.stderr.write(text) : undefined,
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
