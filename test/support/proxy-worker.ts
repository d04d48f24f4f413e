import { serveAsWorker } from '../../src/proxy/workers/worker.ts';

// The program of a worker in tests: writes log entries as JSON.
serveAsWorker((write) => ({
  accessLog: (entry) => write(`${JSON.stringify({ request: entry })}\n`),
  connectionLog: (entry) => write(`${JSON.stringify({ connection: entry })}\n`),
}));
