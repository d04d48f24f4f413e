import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { completedOf, type Client } from '../measurement.ts';
import { urlOf, type Requests } from './requests.ts';

export interface H2loadOptions {
  /** Concurrent streams of a connection. */
  readonly streams: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** Sends requests with HTTP/2 as fast as possible. The rate of h2load comes in bursts of all connections: a rate is an error. */
export function h2load(requests: Requests, { streams, fields }: H2loadOptions): Client {
  return async (target, { seconds, rate }, folder) => {
    if (rate !== undefined) throw new Error('h2load does not spread the requests of a rate');
    const [log, upload] = [join(folder, 'h2load.log'), join(folder, 'upload')];
    await rm(log, { force: true });
    if (requests.body !== undefined) await writeFile(upload, requests.body, 'latin1');
    const { stdout } = await promisify(execFile)('h2load', [
      '-m',
      String(streams),
      '-t',
      '1',
      '-c',
      String(requests.connections),
      '-D',
      String(seconds),
      '--log-file',
      log,
      ...(requests.body === undefined ? [] : ['-d', upload]),
      ...Object.entries(fields).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      urlOf(target, requests),
    ]);
    // Start, status and microseconds of each request.
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const answers = lines.map((line) => line.split('\t').map(Number));
    if (answers.some(([, status]) => status !== 200) || !/ 0 failed, 0 errored, 0 timeout/.test(stdout))
      throw new Error(`requests to ${target.name} failed:\n${stdout}`);
    return completedOf(
      answers.map(([, , micros = Number.NaN]) => micros / 1000),
      seconds,
    );
  };
}
