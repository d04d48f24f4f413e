import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { completedOf, type Client } from '../measurement.ts';
import { urlOf, type Requests } from './requests.ts';

export interface H2loadOptions {
  /** Concurrent streams of a connection; HTTP/1.1 is used if omitted. */
  readonly streams?: number;
  /** `name: value` */
  readonly fields?: readonly string[];
}

/** Sends requests with HTTP/2 or HTTP/1.1, as fast as possible or at a rate. */
export function h2load(requests: Requests, { streams, fields = [] }: H2loadOptions = {}): Client {
  return async (target, { seconds, rate }, folder) => {
    const [log, upload] = [join(folder, 'h2load.log'), join(folder, 'upload')];
    await rm(log, { force: true });
    if (requests.body !== undefined) await writeFile(upload, requests.body, 'latin1');
    const { stdout } = await promisify(execFile)('h2load', [
      ...(streams === undefined ? ['--h1'] : ['-m', String(streams)]),
      '-t',
      '1',
      '-c',
      String(requests.connections),
      '-D',
      String(seconds),
      '--log-file',
      log,
      ...(rate === undefined ? [] : ['--rps', String(rate / requests.connections)]),
      ...(requests.body === undefined ? [] : ['-d', upload]),
      ...fields.flatMap((field) => ['-H', field]),
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
