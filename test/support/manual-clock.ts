import type { Clock } from '../../src/time/clock.ts';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told. */
export class ManualClock implements Clock {
  /** What `random` gives. */
  chance = 0.5;
  /** All delays that anybody ever slept for, in order. */
  readonly slept: number[] = [];
  private time = 0;
  private readonly sleepers = new Set<Sleeper>();

  now(): number {
    return this.time;
  }

  date(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.time);
  }

  random(): number {
    return this.chance;
  }

  sleep(delay: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(delay);
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const sleeper: Sleeper = {
        until: this.time + delay,
        wake: () => {
          this.sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake);
    });
  }

  /** Moves time on and wakes whose time has come, the earliest first. */
  advance(milliseconds: number): void {
    this.time += milliseconds;
    const due = [...this.sleepers].filter(({ until }) => until <= this.time);
    for (const { wake } of due.toSorted((left, right) => left.until - right.until)) wake();
  }

  /** Moves time on without waking anybody: the event loop is busy, so timers are late. */
  pass(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** How many wait. */
  get waiting(): number {
    return this.sleepers.size;
  }
}
