import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Delta, Kernel, Write } from '../core/incremental/index.ts';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from './clock.ts';
import { maxTurns, slice, Slices } from './slices.ts';

/** Takes a change of the evaluation. */
type Follow = (delta: Delta) => void;

interface Task {
  readonly read: Steps<readonly Write[]>;
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
  /** Whether a transaction is being applied, or others read after one. Further ones wait. */
  private isBusy = false;
  /** Whether somebody asked for `readable` in the last turns. */
  private isAsked = false;

  /** @param now monotonic milliseconds */
  constructor(kernel: Kernel, now: () => number = monotonicNow) {
    this.kernel = kernel;
    this.now = now;
  }

  /**
   * Resolves when no transaction is underway; `undefined` if that is so. A read of the kernel before does the work that is left. Between two
   * transactions, whoever asks for this again and again has as much time as the first of them took.
   */
  get readable(): Promise<unknown> | undefined {
    this.isAsked = true;
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
    return this.applyRead(readAlready(writes), follow);
  }

  /** As `apply`, with writes that are read in steps, which are a part of the work. */
  applyRead(read: Steps<readonly Write[]>, follow: Follow): number | Promise<number> {
    if (this.isBusy) return this.later(read, follow);
    const slices = new Slices(this.now);
    const steps = this.transaction(read);
    while (!slices.isUsedUp) {
      const { done, value } = steps.next();
      if (done !== true) continue;
      follow(value);
      return slices.used;
    }
    return this.finish({ steps, follow, slices });
  }

  private *transaction(read: Steps<readonly Write[]>): Steps<Delta> {
    const delta = yield* this.kernel.applyInSteps(yield* read);
    yield* this.prepare(delta);
    return delta;
  }

  private async later(read: Steps<readonly Write[]>, follow: Follow): Promise<number> {
    const done = Promise.withResolvers<number>();
    this.waiting.push({ read, follow, done });
    this.last = ended(done.promise);
    return await done.promise;
  }

  /** Does the rest of a transaction, and then what waits. */
  private async finish(rest: Transaction): Promise<number> {
    this.isBusy = true;
    const first = completed(rest);
    this.last = ended(first);
    void this.workOff(first);
    return await first;
  }

  private async workOff(first: Promise<number>): Promise<void> {
    await this.end(first);
    for (let task = this.waiting.shift(); task !== undefined; task = this.waiting.shift()) {
      await othersFirst();
      const { read, follow, done } = task;
      const slices = new Slices(this.now);
      const steps = this.transaction(read);
      done.resolve(completed({ steps, follow, slices }));
      await this.end(done.promise);
    }
    this.last = undefined;
    this.isBusy = false;
  }

  private async end(transaction: Promise<number>): Promise<void> {
    const settled = Promise.allSettled([transaction]);
    this.underway = settled;
    const [result] = await settled;
    this.underway = undefined;
    if (this.waiting.length === 0) this.last = undefined;
    if (result.status === 'fulfilled' && result.value >= slice) await this.letOthersRead(result.value);
  }

  /** Others may need many slices. They would get one after each transaction, however long it takes. Ends when nobody reads. */
  private async letOthersRead(milliseconds: number): Promise<void> {
    const end = this.now() + milliseconds;
    do {
      this.isAsked = false;
      // Whoever uses slices asks again after at most that many turns.
      for (let turn = 0; turn <= maxTurns; turn += 1) await othersFirst();
    } while (this.isAsked && this.now() < end);
  }
}

function* nothing(): Steps<void> {}

function* readAlready(writes: readonly Write[]): Steps<readonly Write[]> {
  yield* nothing();
  return writes;
}

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
