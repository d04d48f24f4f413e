/**
 * Puts fuzzed objects through everything that takes objects: make fuzz COUNT=1000000 SEED=1. A case that fails is tried
 * alone by CASE=number. Exit code 1 where something threw, or took longer than its size allows.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createProgress } from '../../src/cli/progress.ts';
import { caseOf } from './cases.ts';
import { addTotals, noTotals, type Totals } from './totals.ts';
import type { Share } from './worker.ts';

const seed = Number(process.env['SEED'] ?? 1);
const wanted = Number(process.env['COUNT'] ?? 1_000_000);
const only = process.env['CASE'];
const started = performance.now();
const totals =
  only === undefined ? await tryAll() : await tryShare({ seed, first: Number(only), step: 1, objects: 1 }, () => {});
report(totals);
process.exitCode = totals.failures.length + totals.late.length === 0 ? 0 : 1;

/** All cases, shared out among the processors. */
async function tryAll(): Promise<Totals> {
  const workers = availableParallelism();
  const progress = createProgress(process.stderr, 'objects tried');
  const shares = Array.from({ length: workers }, (_, first): Share => ({
    seed,
    first,
    step: workers,
    objects: Math.ceil(wanted / workers),
  }));
  const all = await Promise.all(
    shares.map((share) =>
      tryShare(share, (count) => {
        for (let n = 0; n < count; n++) progress.step();
      }),
    ),
  );
  progress.clear();
  return all.reduce(addTotals, noTotals);
}

function tryShare(share: Share, onTried: (objects: number) => void): Promise<Totals> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: share });
    worker.on('message', (message: number | Totals) =>
      typeof message === 'number' ? onTried(message) : resolve(message),
    );
    worker.on('error', reject);
  });
}

function report({ objects, bytes, cases, milliseconds, slowest, failures, late }: Totals): void {
  const seconds = (performance.now() - started) / 1000;
  console.log(`seed ${seed}: ${objects} objects in ${cases} cases, ${(bytes / objects).toFixed(0)} bytes each`);
  console.log(`${seconds.toFixed(0)} s, ${(milliseconds / objects).toFixed(2)} ms of a processor per object`);
  for (const one of slowest)
    console.log(`slowest: case ${one.number}, ${one.milliseconds.toFixed(0)} ms for ${one.bytes} bytes`);
  for (const one of late)
    console.log(
      `TOO SLOW: case ${one.number}, ${one.milliseconds.toFixed(0)} ms for ${one.bytes} bytes; at most ${one.limit.toFixed(0)} ms`,
    );
  for (const { number, count, error } of failures) {
    console.log(`FAILED ${count} times, first in case ${number}: ${error}`);
    for (const text of caseOf(seed, number).texts) console.log(`  ${text.slice(0, 2000)}`);
  }
  console.log(`${failures.length} kinds of failures, ${late.length} cases too slow`);
}
