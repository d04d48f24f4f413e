import { parentPort, workerData } from 'node:worker_threads';
import { caseOf, timeLimit, tryCase } from './cases.ts';
import { createSubject } from './subject.ts';
import { addTotals, failureOf, noTotals, type Totals } from './totals.ts';

/** Part of the cases: `first`, `first + step` … until so many objects were tried. */
export interface Share {
  readonly seed: number;
  readonly first: number;
  readonly step: number;
  readonly objects: number;
}

/** A case that is late is tried again before it counts: the machine may have been busy, or the code cold. */
const retries = 3;
const messageEvery = 100;

const { seed, first, step, objects } = workerData as Share;
const subject = await createSubject();
let totals: Totals = noTotals;
let untold = 0;
for (let number = first; totals.objects < objects; number += step) {
  const one = caseOf(seed, number);
  const { error, milliseconds } = await tryCase(subject, one);
  const limit = timeLimit(one);
  const late = error === undefined && milliseconds > limit && (await isLate(number));
  totals = addTotals(totals, {
    objects: one.texts.length,
    bytes: one.bytes,
    cases: 1,
    milliseconds,
    slowest: [{ number, milliseconds, bytes: one.bytes }],
    late: late ? [{ number, milliseconds, bytes: one.bytes, limit }] : [],
    failures: error === undefined ? [] : [failureOf(number, error)],
  });
  untold += one.texts.length;
  if (untold < messageEvery) continue;
  tell(untold);
  untold = 0;
}
await subject.close();
tell(totals);

async function isLate(number: number): Promise<boolean> {
  const again = caseOf(seed, number);
  for (let time = 0; time < retries; time++) {
    if ((await tryCase(subject, again)).milliseconds <= timeLimit(again)) return false;
  }
  return true;
}

function tell(message: number | Totals): void {
  // A window's postMessage has a target origin; that of a worker has none.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(message);
}
