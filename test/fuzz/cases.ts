import { createRandom } from '../differential/random.ts';
import { fuzzedObject } from './objects.ts';
import { bundles, type Subject } from './subject.ts';

/** What is tried at once: some objects in one bundle. */
export interface Case {
  readonly texts: readonly string[];
  readonly bundle: (typeof bundles)[number];
  readonly bytes: number;
}

/** The case of a number; a seed and a number say all of it. */
export function caseOf(seed: number, number: number): Case {
  const random = createRandom(Math.imul(seed, 0x9e3779b1) + number);
  const texts = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => fuzzedObject(random));
  return { texts, bundle: random.pick(bundles), bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
}

/** What a case came to. */
export interface Outcome {
  /** Of the processor. */
  readonly milliseconds: number;
  readonly error?: unknown;
}

/** Tries a case; never throws. */
export async function tryCase(subject: Subject, { texts, bundle }: Case): Promise<Outcome> {
  const start = process.threadCpuUsage();
  const error = await subject.try(texts, bundle).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('nothing was thrown'),
  );
  // Of this thread alone: what else the machine does must not count.
  const { user, system } = process.threadCpuUsage(start);
  const milliseconds = (user + system) / 1000;
  return error === undefined ? { milliseconds } : { milliseconds, error };
}

/** Milliseconds that a case may take on any machine of today: some, and more for each kilobyte. */
export function timeLimit({ bytes }: Case): number {
  return 250 + bytes / 100;
}
