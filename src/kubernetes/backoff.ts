/** Milliseconds. The first delay and the ceiling are those of client-go's reflector. */
const shortest = 800;
const longest = 30_000;

/** Growing delays between attempts, so that a troubled API server is left in peace, and not by all at the same moments. */
export class Backoff {
  private readonly random: () => number;
  private delay = shortest;

  constructor(random: () => number) {
    this.random = random;
  }

  /** The next delay in milliseconds: half of it fixed, half by chance, and never less than the server asked for. */
  next(retryAfter = 0): number {
    const spread = this.delay * (0.5 + this.random() / 2);
    this.delay = Math.min(this.delay * 2, longest);
    return retryAfter > 0 ? Math.max(retryAfter * (1 + this.random() / 10), spread) : spread;
  }

  /** Things went well again. */
  reset(): void {
    this.delay = shortest;
  }
}
