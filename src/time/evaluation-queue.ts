import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Delta, Kernel, Write } from '../core/incremental/index.ts';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from './clock.ts';
import { Slices } from './slices.ts';

/** Takes a change of the evaluation. */
type Follow = (delta: Delta) => void;

interface Task {
  readonly writes: readonly Write[];
  readonly follow: Follow;
  readonly done: PromiseWithResolvers<number>;
}

/**
 * Applies writes to the evaluation, one transaction after the other. Work that exceeds a slice continues after others had their turns: the
 * change of a Gateway may concern thousands of routes. Most changes take less, and their followers are called at once.
 */
export class EvaluationQueue {
  readonly kernel: Kernel;
  /** Work about the changes of each transaction, in steps, before its followers are called. */
  prepare: (delta: Delta) => Steps<void> = nothing;
  private readonly now: () => number;
  private waiting: Task[] = [];
  /** The transaction that is being applied. */
  private underway: Promise<unknown> | undefined;
  /** The last of the transactions that wait or are being applied; `undefined`: there are none. */
  private last: Promise<unknown> | undefined;

  /** @param now monotonic milliseconds */
  constructor(kernel: Kernel, now: () => number = monotonicNow) {
    this.kernel = kernel;
    this.now = now;
  }

  /**
   * Resolves when no transaction is underway; `undefined` if that is so. A read of the kernel before does the work that is left. Between two
   * transactions, whoever waits for this has a turn of the event loop.
   */
  get readable(): Promise<unknown> | undefined {
    return this.underway;
  }

  /** Resolves when all writes of earlier calls are applied; `undefined` if that is so. */
  get applied(): Promise<unknown> | undefined {
    return this.last;
  }

  /**
   * Applies `writes` as one transaction, after those of all earlier calls, and passes its changes to `follow`: before this returns, if
   * nothing is underway and the work fits in a slice. Returns the milliseconds of work. Throws or rejects with the errors of both.
   */
  apply(writes: readonly Write[], follow: Follow): number | Promise<number> {
    if (this.last !== undefined) return this.later(writes, follow);
    const slices = new Slices(this.now);
    const steps = this.transaction(writes);
    while (!slices.isUsedUp) {
      const { done, value } = steps.next();
      if (done !== true) continue;
      follow(value);
      return slices.used;
    }
    return this.finish({ steps, follow, slices });
  }

  private *transaction(writes: readonly Write[]): Steps<Delta> {
    const delta = yield* this.kernel.applyInSteps(writes);
    yield* this.prepare(delta);
    return delta;
  }

  private async later(writes: readonly Write[], follow: Follow): Promise<number> {
    const done = Promise.withResolvers<number>();
    this.waiting.push({ writes, follow, done });
    this.last = ended(done.promise);
    return await done.promise;
  }

  /** Does the rest of a transaction, and then what waits. */
  private async finish(rest: Transaction): Promise<number> {
    const first = completed(rest);
    this.last = ended(first);
    void this.workOff(first);
    return await first;
  }

  private async workOff(first: Promise<number>): Promise<void> {
    await this.end(first);
    for (let task = this.waiting.shift(); task !== undefined; task = this.waiting.shift()) {
      await othersFirst();
      const { writes, follow, done } = task;
      const slices = new Slices(this.now);
      const steps = this.transaction(writes);
      done.resolve(completed({ steps, follow, slices }));
      await this.end(done.promise);
    }
    this.last = undefined;
  }

  private async end(transaction: Promise<number>): Promise<void> {
    this.underway = ended(transaction);
    await this.underway;
    this.underway = undefined;
  }
}

function* nothing(): Steps<void> {}

async function ended(transaction: Promise<number>): Promise<void> {
  await Promise.allSettled([transaction]);
}

interface Transaction {
  readonly steps: Steps<Delta>;
  readonly follow: Follow;
  readonly slices: Slices;
}

/** Returns the milliseconds of work. The followers, who may have much to do, get a turn of their own. */
async function completed({ steps, follow, slices }: Transaction): Promise<number> {
  let work = 0;
  for (;;) {
    if (slices.isUsedUp) {
      work += slices.used;
      await slices.next();
    }
    const { done, value } = steps.next();
    if (done !== true) continue;
    work += slices.used;
    await slices.next();
    follow(value);
    return work + slices.used;
  }
}
