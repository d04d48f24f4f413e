import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';

/** Milliseconds that one review may run before it yields to others. */
export const slice = 10;

/** Runs all steps in slices, and yields to the event loop in between. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  let began = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - began < slice) continue;
    await othersFirst();
    began = performance.now();
  }
}

/** A queue of limited length that admits one caller at a time. */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  /** @param most maximum number of waiting callers */
  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when it is the caller's turn, which `leave` ends; `undefined` if the queue is full. */
  enter(): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve();
    }
    if (this.#waiting.size >= this.#most) return undefined;
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#isTaken = false;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
