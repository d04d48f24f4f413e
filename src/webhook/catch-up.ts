import { setImmediate as othersFirst } from 'node:timers/promises';
import type { ReadingPace } from '../kubernetes/index.ts';
import type { EvaluationQueue } from '../time/evaluation-queue.ts';

/** Returns a function that resolves when the evaluation contains all events that have arrived; `undefined`: it does. */
export function catchUp(
  pace: Pick<ReadingPace, 'catchUp'>,
  evaluation: Pick<EvaluationQueue, 'applied'>,
): () => Promise<void> | undefined {
  return () => {
    if (evaluation.applied !== undefined) return afterwards(evaluation.applied);
    const read = pace.catchUp();
    return read && applied(read);
  };

  async function applied(read: Promise<void> | undefined): Promise<void> {
    await read;
    await evaluation.applied;
  }

  /** A watch whose events are being applied leaves the next ones in its connection. */
  async function afterwards(present: Promise<unknown>): Promise<void> {
    await present;
    // The watch goes on in this turn.
    await othersFirst();
    await applied(pace.catchUp());
  }
}
