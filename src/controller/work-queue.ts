import { FairQueue } from '../fairness/fair-queue.ts';

/**
 * Keys of objects to reconcile. As in the work queue of client-go, each key waits once, and one that is added after it was taken waits
 * again when its reconciliation is done. Namespaces take turns, so one with thousands of changed objects does not delay the others. The
 * keys of one namespace leave in the order in which they arrived.
 */
export class WorkQueue {
  private readonly namespaceOf: (key: string) => string;
  private turns = new FairQueue<string>();
  private readonly waiting = new Set<string>();
  /** The keys that were taken and are not done, and whether they were added since. */
  private readonly taken = new Map<string, boolean>();

  constructor(namespaceOf: (key: string) => string) {
    this.namespaceOf = namespaceOf;
  }

  /** Whether no key waits. */
  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add(key: string): void {
    if (this.taken.has(key)) {
      this.taken.set(key, true);
      return;
    }
    if (this.waiting.has(key)) return;
    this.waiting.add(key);
    this.turns.add(key, [this.namespaceOf(key)]);
  }

  /** Removes and returns the next key; `undefined` if none waits. Its reconciliation ends with `done`. */
  take(): string | undefined {
    const key = this.turns.take();
    if (key === undefined) return undefined;
    this.waiting.delete(key);
    this.taken.set(key, false);
    return key;
  }

  /** Ends the reconciliation of a key that was taken. */
  done(key: string): void {
    const isAgain = this.taken.get(key) === true;
    this.taken.delete(key);
    if (isAgain) this.add(key);
  }

  /** Removes all keys that wait, or will wait again. */
  clear(): void {
    this.turns = new FairQueue();
    this.waiting.clear();
    for (const key of this.taken.keys()) this.taken.set(key, false);
  }
}
