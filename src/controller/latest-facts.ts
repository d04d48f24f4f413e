import { setTimeout as delay } from 'node:timers/promises';
import type { Delta, Write } from '../core/incremental/index.ts';
import { slice } from '../time/slices.ts';
import type { EvaluationQueue } from '../time/evaluation-queue.ts';

/**
 * Writes facts to the evaluation that others may change at any rate: pods of data planes, and what these acknowledge. One transaction is
 * applied at a time. Meanwhile, a later fact about a subject replaces an earlier one, so whoever changes a fact all the time does not
 * pile up work before that of others. Work that exceeds a slice is followed by a pause as long.
 */
export class LatestFacts {
  private readonly evaluation: Pick<EvaluationQueue, 'apply'>;
  private readonly follow: (delta: Delta) => void;
  /** Facts that no transaction has taken yet, by subject. */
  private waiting = new Map<string, Write>();
  private isBusy = false;

  /** @param follow takes the changes of the evaluation. It may write further facts */
  constructor(evaluation: Pick<EvaluationQueue, 'apply'>, follow: (delta: Delta) => void) {
    this.evaluation = evaluation;
    this.follow = follow;
  }

  write(facts: readonly Write[]): void {
    for (const fact of facts) this.waiting.set(JSON.stringify([fact.input.name, ...fact.args]), fact);
    if (!this.isBusy) void this.workOff();
  }

  /** Rejects with the errors of the evaluation, after which the next write goes on. */
  private async workOff(): Promise<void> {
    this.isBusy = true;
    try {
      while (this.waiting.size > 0) {
        const facts = [...this.waiting.values()];
        this.waiting = new Map();
        const applied = this.evaluation.apply(facts, this.follow);
        // What needs no waiting is done before `write` returns.
        const work = typeof applied === 'number' ? applied : await applied;
        if (work >= slice) await delay(work, undefined, { ref: false });
      }
    } finally {
      this.isBusy = false;
    }
  }
}
