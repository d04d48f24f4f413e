import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../measurement.ts';
import { urlOf, type Requests } from './requests.ts';

/** Sends requests with HTTP/1.1 as fast as possible. wrk has no fixed rate: a rate is an error. */
export function wrk(requests: Requests): Client {
  return async (target, { seconds, rate }, folder) => {
    if (rate !== undefined) throw new Error('wrk does not support a rate');
    const script = join(folder, 'wrk.lua');
    await writeFile(script, requests.body === undefined ? '' : `wrk.method = 'POST'\nwrk.body = '${requests.body}'\n`);
    const { stdout } = await promisify(execFile)('wrk', [
      '-t',
      '1',
      '-c',
      String(requests.connections),
      '-d',
      `${seconds}s`,
      '-s',
      script,
      '--latency',
      urlOf(target, requests),
    ]);
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`requests to ${target.name} failed:\n${stdout}`);
    const found = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? '';
    return {
      count: Number(found(/(\d+) requests in/)),
      rate: Number(found(/Requests\/sec:\s+([\d.]+)/)),
      p50: milliseconds(found(/^\s+50%\s+(\S+)/m)),
      p99: milliseconds(found(/^\s+99%\s+(\S+)/m)),
      max: milliseconds(found(/Latency\s+\S+\s+\S+\s+(\S+)/)),
    };
  };
}

/** `1.50ms` → 1.5 */
function milliseconds(time: string): number {
  const unit = { us: 0.001, ms: 1, s: 1000, m: 60_000 }[time.replace(/[\d.]+/, '')] ?? Number.NaN;
  return Number.parseFloat(time) * unit;
}
