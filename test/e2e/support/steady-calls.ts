import { waitFor } from './wait.ts';

export interface Pace {
  readonly perSecond: number;
  /** How many are made at the same moment. */
  readonly together?: number;
  /** While so many are unanswered no more are made, and those that were due never are: they count as planned. */
  readonly maxUnanswered: number;
}

/** What came of a load. */
export interface Tally {
  /** How many calls the pace asked for. */
  readonly planned: number;
  readonly made: number;
  /** Outcome → how often. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** No load goes on for longer, whatever the test does. */
const maxCalls = 40_000;

/** Makes calls at a steady pace until it is stopped: as many as are due by the clock, however late timers fire. */
export class SteadyCalls {
  private readonly call: (index: number) => Promise<string>;
  private readonly pace: Pace;
  private readonly calls: Promise<string>[] = [];
  private readonly timer: NodeJS.Timeout;
  private readonly start = performance.now();
  private plans = 0;
  private answered = 0;

  /** @param call gives its outcome, and never rejects */
  constructor(call: (index: number) => Promise<string>, pace: Pace) {
    this.call = call;
    this.pace = pace;
    const { perSecond, together = 1 } = pace;
    this.timer = setInterval(() => this.makeDue(), (1000 * together) / perSecond);
  }

  /** Waits until so many more calls were answered. */
  async goesOn(calls: number): Promise<void> {
    const wished = this.answered + calls;
    await waitFor(
      `the load goes on (${this.calls.length} calls made so far)`,
      async () => (this.answered >= wished ? true : undefined),
      120,
    );
  }

  /** Makes no more, and tells how all went. May be called again. */
  async stop(): Promise<Tally> {
    clearInterval(this.timer);
    const outcomes = countOf(await Promise.all(this.calls));
    return { planned: this.plans, made: this.calls.length, outcomes };
  }

  private makeDue(): void {
    const { perSecond, together = 1, maxUnanswered } = this.pace;
    const due = Math.min(maxCalls, Math.floor(((performance.now() - this.start) * perSecond) / 1000));
    for (; this.plans + together <= due; this.plans += together) {
      if (this.calls.length + together > this.answered + maxUnanswered) continue;
      for (let count = 0; count < together; count += 1) this.calls.push(this.make(this.calls.length));
    }
    if (this.plans >= maxCalls) clearInterval(this.timer);
  }

  private async make(index: number): Promise<string> {
    const outcome = await this.call(index);
    this.answered += 1;
    return outcome;
  }
}

/** How often each text occurs. */
export function countOf(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
