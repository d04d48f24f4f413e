/** Milliseconds. The first delay and the maximum are those of client-go's reflector. */
const shortest = 800;
const longest = 30_000;

/** Exponential backoff with jitter, so that clients do not overload a struggling API server and do not retry at the same moment. */
export class Backoff {
  private readonly random: () => number;
  private delay = shortest;

  constructor(random: () => number) {
    this.random = random;
  }

  /** Returns the next delay in milliseconds: half fixed, half random, and never less than the server requested. */
  next(retryAfter = 0): number {
    const spread = this.delay * (0.5 + this.random() / 2);
    this.delay = Math.min(this.delay * 2, longest);
    return retryAfter > 0 ? Math.max(retryAfter * (1 + this.random() / 10), spread) : spread;
  }

  /** Resets the delay after a success. */
  reset(): void {
    this.delay = shortest;
  }
}
