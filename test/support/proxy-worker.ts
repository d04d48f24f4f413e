import { serveAsWorker } from '../../src/proxy/workers/worker.ts';

// The program of a worker in tests: writes log entries as JSON, and ends or fails at requests for certain paths.
serveAsWorker((write) => ({
  accessLog: (entry) => {
    write(`${JSON.stringify({ request: entry })}\n`);
    if (entry.path === '/exit') process.exit(7);
    if (entry.path === '/fill') fill();
    if (entry.path === '/hang') for (;;);
    if (entry.path === '/throw')
      setImmediate(() => {
        throw new Error('thrown in a worker');
      });
  },
  connectionLog: (entry) => write(`${JSON.stringify({ connection: entry })}\n`),
}));

/** Fills the heap. */
function fill(): never {
  const values: object[] = [];
  for (;;) values.push({ value: [Math.random(), Math.random(), Math.random()] });
}
