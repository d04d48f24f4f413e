import type { RetryBudget } from '../../core/routing/config.ts';

/** The number of slots of a window. Events count for at least 19 twentieths of the interval, and at most for all of it. */
const slots = 20;

/** Counts the events of the last interval, with constant memory. */
export class RollingCount {
  private readonly slotLength: number;
  private readonly counts: number[] = Array.from({ length: slots }, () => 0);
  private slot = 0;
  private sum = 0;

  /** @param interval in milliseconds */
  constructor(interval: number) {
    this.slotLength = interval / slots;
  }

  /** @param now milliseconds of a clock that never goes back */
  add(now: number): void {
    this.advance(now);
    const position = this.slot % slots;
    this.counts[position] = (this.counts[position] ?? 0) + 1;
    this.sum += 1;
  }

  total(now: number): number {
    this.advance(now);
    return this.sum;
  }

  /** Forgets the slots that are older than the interval. */
  private advance(now: number): void {
    const slot = Math.floor(now / this.slotLength);
    const past = Math.min(slot - this.slot, slots);
    for (let step = 1; step <= past; step += 1) {
      const position = (this.slot + step) % slots;
      this.sum -= this.counts[position] ?? 0;
      this.counts[position] = 0;
    }
    if (slot > this.slot) this.slot = slot;
  }
}

/** The place of a thread among those of a data plane, from 0. */
export interface ThreadShare {
  readonly thread: number;
  readonly threads: number;
}

const onlyThread: ThreadShare = { thread: 0, threads: 1 };

/**
 * The retries that a backend can still get (RetryConstraint, GEP-3388): at most a percentage of the requests of the last interval
 * are retries, but a minimum rate of retries is always permitted. Each thread counts its own requests, and has its share of the minimum.
 */
export class RetryBudgetAccount {
  readonly terms: RetryBudget;
  private readonly minimum: number;
  /** All tries, including retries. */
  private readonly tries: RollingCount;
  private readonly retries: RollingCount;
  /** Retries in the interval of the minimum rate. */
  private readonly recent: RollingCount;

  constructor(terms: RetryBudget, { thread, threads }: ThreadShare = onlyThread) {
    this.terms = terms;
    // Rounded such that the sum of all threads is the minimum.
    this.minimum = Math.floor((terms.minimum.count + thread) / threads);
    this.tries = new RollingCount(terms.interval);
    this.retries = new RollingCount(terms.interval);
    this.recent = new RollingCount(terms.minimum.interval);
  }

  /** Counts the first try of a request. */
  addRequest(now: number): void {
    this.tries.add(now);
  }

  /** Takes a retry from the budget. Returns false if the budget is exceeded: the retry must not be sent. */
  takeRetry(now: number): boolean {
    const { percent } = this.terms;
    const isWithinShare = (this.retries.total(now) + 1) * 100 <= percent * (this.tries.total(now) + 1);
    if (!isWithinShare && this.recent.total(now) >= this.minimum) return false;
    for (const count of [this.tries, this.retries, this.recent]) count.add(now);
    return true;
  }
}

/** The accounts of all backends with a retry budget. */
export class RetryBudgets {
  private readonly share: ThreadShare;
  private readonly accounts = new Map<string, { account: RetryBudgetAccount; users: number }>();

  constructor(share: ThreadShare = onlyThread) {
    this.share = share;
  }

  /**
   * Returns the account of a backend for one more user. Changed terms begin with empty counts; the account stays the same
   * otherwise.
   */
  hold(terms: RetryBudget): RetryBudgetAccount {
    const known = this.accounts.get(terms.backend);
    const account =
      known !== undefined && isSame(known.account.terms, terms)
        ? known.account
        : new RetryBudgetAccount(terms, this.share);
    this.accounts.set(terms.backend, { account, users: (known?.users ?? 0) + 1 });
    return account;
  }

  /** Removes the account with its last user. */
  release({ terms: { backend } }: RetryBudgetAccount): void {
    const known = this.accounts.get(backend);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.accounts.delete(backend);
  }
}

function isSame(one: RetryBudget, other: RetryBudget): boolean {
  return (
    one.percent === other.percent &&
    one.interval === other.interval &&
    one.minimum.count === other.minimum.count &&
    one.minimum.interval === other.minimum.interval
  );
}
