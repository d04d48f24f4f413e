import { setImmediate as othersFirst } from 'node:timers/promises';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow } from './clock.ts';
import { NextTurn } from './next-turn.ts';

/** Milliseconds that work of many steps may run before it yields to others. */
export const slice = 10;
/** Maximum number of turns of the event loop between two slices. */
export const maxTurns = 4;

/** Resolves when work may go on; `undefined`: it may. */
export type Gate = () => Promise<unknown> | undefined;

export function alwaysOpen(): undefined {}

/** Resolves when work may go on. */
export async function opened(gate: Gate): Promise<void> {
  for (let wait = gate(); wait !== undefined; wait = gate()) await wait;
}

/**
 * Gives others a turn of the event loop, or as many turns as slices were used: some steps take several, and a connection that arrived in
 * the meantime needs a turn to be accepted and one to be read. Awaiting a settled promise would not let timers and requests run. Then
 * waits for the gate.
 */
export async function letOthersRun(slices: number, gate: Gate): Promise<void> {
  const turns = Math.min(Math.max(Math.floor(slices), 1), maxTurns);
  for (let turn = 0; turn < turns; turn += 1) await othersFirst();
  await opened(gate);
}

/** The slices of work of many steps. */
export class Slices {
  private readonly now: () => number;
  private readonly gate: Gate;
  private began: number;

  /** Begins the first slice. @param now monotonic milliseconds */
  constructor(now: () => number = monotonicNow, gate: Gate = alwaysOpen) {
    this.now = now;
    this.gate = gate;
    this.began = now();
  }

  /** Whether the next step must wait for `next`. */
  get isUsedUp(): boolean {
    return this.used >= slice || this.gate() !== undefined;
  }

  /** Milliseconds since the slice began. */
  get used(): number {
    return this.now() - this.began;
  }

  /** Begins the next slice after others had their turns. */
  async next(): Promise<void> {
    await letOthersRun(this.used / slice, this.gate);
    this.began = this.now();
  }
}

/** A slice that many share in each turn of the event loop: each of them would have one of its own otherwise. */
export class SharedSlice {
  private used = 0;
  private readonly turn = new NextTurn(() => {
    this.used = 0;
  });

  /** Records `work` milliseconds in this turn. */
  note(work: number): void {
    this.used += work;
    this.turn.request();
  }

  /** Whether the slice of this turn is used up, with `more` milliseconds that are not recorded yet. */
  isUsedUp(more = 0): boolean {
    return this.used + more >= slice;
  }
}

/** Values in a turn at most. Closing a connection, for example, costs several times as much after the action as in it, so time does not tell. */
const valuesInTurn = 64;

/** Runs an action for each of the values, a few in each turn of the event loop. Values that come meanwhile are not among them. */
export async function eachInTurns<T>(values: Iterable<T>, action: (value: T) => void): Promise<void> {
  for (const [index, value] of [...values].entries()) {
    if (index > 0 && index % valuesInTurn === 0) await othersFirst();
    action(value);
  }
}

/**
 * An action for values that come at any time, which runs for a few of them in each turn of the event loop, and for fewer if these take more
 * than a slice.
 */
export class ActionInTurns<T> {
  private readonly waiting = new Set<T>();
  private readonly action: (value: T) => void;
  private readonly next = new NextTurn(() => this.turn());

  /** `action` should not throw: its error ends the turn, like that of any callback of the event loop. */
  constructor(action: (value: T) => void) {
    this.action = action;
  }

  /** Runs the action for a value in a later turn, once if it is added again until then. */
  add(value: T): void {
    this.waiting.add(value);
    this.next.request();
  }

  /** Resolves when no value waits. */
  async done(): Promise<void> {
    while (this.waiting.size > 0) await othersFirst();
  }

  private turn(): void {
    try {
      this.runSome();
    } finally {
      // An unexpected error must not hold up the other values.
      if (this.waiting.size > 0) this.next.request();
    }
  }

  private runSome(): void {
    const began = monotonicNow();
    let left = valuesInTurn;
    for (const value of this.waiting) {
      this.waiting.delete(value);
      this.action(value);
      left -= 1;
      if (left === 0 || monotonicNow() - began >= slice) break;
    }
  }
}

/** Runs all steps in slices, and yields to the event loop in between. Several calls can share slices. */
export async function inSlices<T>(steps: Steps<T>, slices = new Slices()): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    while (slices.isUsedUp) await slices.next();
  }
}
