import { Backoff } from '../../kubernetes/index.ts';
import type { Clock } from '../../time/clock.ts';

/** The maximum delay of a retry, in intervals between rounds: five minutes. */
const longestDelay = 60;

interface Failing {
  readonly backoff: Backoff;
  /** Milliseconds of the clock. */
  readonly due: number;
}

/** Delays the retries of reports that cannot be written, by namespace: most reasons last until an administrator removes them. */
export class WriteDelays {
  private readonly clock: Clock;
  private readonly interval: number;
  private readonly failing = new Map<string, Failing>();

  /** @param interval milliseconds between two rounds, which is the first delay */
  constructor(clock: Clock, interval: number) {
    this.clock = clock;
    this.interval = interval;
  }

  /** Whether the report of a namespace can be written now. */
  isDue(namespace: string): boolean {
    const failing = this.failing.get(namespace);
    return failing === undefined || failing.due <= this.clock.now();
  }

  /** Delays the next write. @param retryAfter milliseconds that the server requested */
  failed(namespace: string, retryAfter?: number): void {
    const { backoff } = this.failing.get(namespace) ?? {
      backoff: new Backoff(() => this.clock.random(), {
        shortest: this.interval,
        longest: longestDelay * this.interval,
      }),
    };
    this.failing.set(namespace, { backoff, due: this.clock.now() + backoff.next(retryAfter) });
  }

  /** Call this when the report of a namespace is up to date. */
  succeeded(namespace: string): void {
    this.failing.delete(namespace);
  }

  /** Forgets all failures. */
  clear(): void {
    this.failing.clear();
  }
}
