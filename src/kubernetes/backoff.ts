/** The first delay and the maximum, in milliseconds. */
interface DelayLimits {
  readonly shortest: number;
  readonly longest: number;
}

/** Those of client-go's reflector. */
const reflectorLimits: DelayLimits = { shortest: 800, longest: 30_000 };

/** Exponential backoff with jitter, so that clients do not overload a struggling API server and do not retry at the same moment. */
export class Backoff {
  private readonly random: () => number;
  private readonly limits: DelayLimits;
  private delay: number;

  constructor(random: () => number, limits = reflectorLimits) {
    this.random = random;
    this.limits = limits;
    this.delay = limits.shortest;
  }

  /** Returns the next delay in milliseconds: half fixed, half random, and never less than the server requested. */
  next(retryAfter = 0): number {
    const spread = this.delay * (0.5 + this.random() / 2);
    this.delay = Math.min(this.delay * 2, this.limits.longest);
    return retryAfter > 0 ? Math.max(retryAfter * (1 + this.random() / 10), spread) : spread;
  }

  /** Resets the delay after a success. */
  reset(): void {
    this.delay = this.limits.shortest;
  }
}
