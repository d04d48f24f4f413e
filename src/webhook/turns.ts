import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';

/** Milliseconds that one review may work before others have their turn. */
export const slice = 10;

/** Runs all steps, in slices, so that whatever else the process does goes on in between. */
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

/** A queue of fixed length in which one after the other has its turn. */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  /** @param most how many may wait */
  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when it is the caller's turn, which `leave` ends; `undefined` where too many wait. */
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
