import { isatty } from 'node:tty';
import { serveAsWorker } from '../proxy/workers/worker.ts';
import { createLogger } from '../telemetry/index.ts';
import { limitBufferPool } from './process/buffer-pool.ts';
import { trafficLogs } from './process/traffic-logs.ts';

// The program of a worker of `sallyport proxy`.
limitBufferPool();
serveAsWorker((write) => trafficLogs(createLogger('info', { isTTY: isatty(process.stderr.fd), write })));
