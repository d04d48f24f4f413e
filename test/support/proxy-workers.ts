import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createProxyWorkers, type ProxyWorkers, type WorkersOptions } from '../../src/proxy/workers/pool.ts';
import type { ProxyOptions } from '../../src/proxy/proxy.ts';

let script: URL | undefined;

/** The program of a worker in one file, which starts much faster than the sources. Built once per test file. */
export function workerScript(): URL {
  if (script !== undefined) return script;
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-worker-'));
  const outfile = join(folder, 'worker.mjs');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const options = ['--bundle', '--platform=node', '--format=esm', '--log-level=error', `--outfile=${outfile}`];
  execFileSync('node_modules/.bin/esbuild', ['test/support/proxy-worker.ts', ...options]);
  script = pathToFileURL(outfile);
  return script;
}

/** A data plane with workers. Its log entries get to the same functions as those of one thread. */
export function createWorkersUnderTest(
  options: ProxyOptions,
  parts: Partial<Pick<WorkersOptions, 'workers' | 'onWorkerEnd' | 'pace'>> = {},
  scriptOf = workerScript,
): ProxyWorkers {
  const { accessLog, connectionLog, onFault } = options;
  return createProxyWorkers({
    ...options,
    workers: 2,
    onFault: (error) => onFault?.(error),
    onWorkerEnd: () => undefined,
    writeLines: (text) => {
      for (const line of text.trimEnd().split('\n')) {
        const { request, connection } = JSON.parse(line) as {
          readonly request?: Parameters<NonNullable<typeof accessLog>>[0];
          readonly connection?: Parameters<NonNullable<typeof connectionLog>>[0];
        };
        if (request !== undefined) accessLog?.(request);
        if (connection !== undefined) connectionLog?.(connection);
      }
    },
    ...parts,
    get script() {
      return scriptOf();
    },
  });
}
