import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, versionOf } from './process.ts';
import { expectEqual } from './report.ts';
import type { InstalledClient } from './report.ts';

/** h2load: many requests at a time; none may fail. It does not check certificates. */
export const h2loadClient: InstalledClient = {
  command: 'h2load',
  checksAt: ({ httpUrl, httpsUrl, folder }) => {
    const file = join(folder, 'load');
    writeFileSync(file, Buffer.alloc(1024 * 1024));
    return {
      name: `h2load ${versionOf('h2load')}`,
      checks: {
        'HTTP/1.1': () => h2load('http/1.1', 2_000, '--h1', '-c', '20', httpUrl),
        HTTPS: () => h2load('http/1.1', 2_000, '--h1', '-c', '20', httpsUrl),
        'HTTP/2, prior knowledge': () => h2load('h2c', 2_000, '-c', '10', '-m', '20', httpUrl),
        'HTTP/2, TLS': () => h2load('h2', 2_000, '-c', '10', '-m', '20', httpsUrl),
        'uploads of 1 MiB, HTTP/2': () => h2load('h2c', 40, '-c', '2', '-m', '4', '-d', file, httpUrl),
      },
    };
  },
};

async function h2load(protocol: string, requests: number, ...args: readonly string[]): Promise<void> {
  const printed = (await run('h2load', ['-n', String(requests), ...args])).toString();
  expectEqual(/Application protocol: (?<name>\S+)/.exec(printed)?.groups?.['name'], protocol);
  expectEqual(/\d+ succeeded, \d+ failed/.exec(printed)?.[0], `${requests} succeeded, 0 failed`);
  expectEqual(/status codes: .*/.exec(printed)?.[0], `status codes: ${requests} 2xx, 0 3xx, 0 4xx, 0 5xx`);
}

/** wrk: 20 connections for two seconds; no response but 2xx, no broken connection. It does not check certificates. */
export const wrkClient: InstalledClient = {
  command: 'wrk',
  checksAt: ({ httpUrl, httpsUrl }) => ({
    name: `wrk ${versionOf('wrk', '-v')}`,
    checks: { 'HTTP/1.1': () => wrk(httpUrl), HTTPS: () => wrk(httpsUrl) },
  }),
};

async function wrk(url: string): Promise<void> {
  const printed = (await run('wrk', ['-t', '1', '-c', '20', '-d', '2s', '--timeout', '30s', url])).toString();
  expectEqual(/Non-2xx.*|Socket errors.*/.exec(printed)?.[0], undefined);
  if (!/[1-9]\d* requests in/.test(printed)) throw new Error(`no request was answered: ${printed}`);
}
