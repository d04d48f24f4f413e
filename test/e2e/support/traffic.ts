import type { Client } from './client.ts';
import { SteadyCalls, type Pace } from './steady-calls.ts';

/** Requests of one kind of client at a steady pace, a quarter of them each on a connection of its own, the others on connections that are kept. */
export class Traffic {
  private readonly name: string;
  private readonly client: Client;
  private readonly perSecond: number;
  private readonly requests: SteadyCalls;
  private readonly begin = performance.now();
  /** What was lost → seconds after the begin. */
  private readonly losses = new Map<string, { readonly first: number; readonly last: number }>();

  /** @param name says in words about losses whose they are */
  constructor(name: string, client: Client, pace: Pace) {
    this.name = name;
    this.client = client;
    this.perSecond = pace.perSecond;
    this.requests = new SteadyCalls((index) => this.send(index), pace);
  }

  /** Waits until as many more requests were answered as are sent in so many seconds. */
  goesOn(seconds: number): Promise<void> {
    return this.requests.goesOn(Math.ceil(seconds * this.perSecond));
  }

  /** Waits until each kept connection was used once more. */
  async usesAll(): Promise<void> {
    await this.requests.goesOn(this.client.cycle);
  }

  /** Sends no more. Gives what was lost and when, and whether too little was sent, in words; nothing where all is well. May be called again. */
  async stop(): Promise<readonly string[]> {
    const { planned, made, outcomes } = await this.requests.stop();
    this.client.close();
    const lost = [...this.losses].map(
      ([what, { first, last }]) =>
        `${outcomes[what]} × ${what}, ${first.toFixed(1)} s to ${last.toFixed(1)} s after the begin`,
    );
    const all = made === planned ? lost : [...lost, `of ${planned} requests that were due only ${made} were sent`];
    return all.map((words) => `${this.name}: ${words}`);
  }

  private async send(index: number): Promise<string> {
    const connection = index % 4 === 0 ? 'fresh' : 'kept';
    try {
      await this.client[connection](index);
      return 'served';
    } catch (error) {
      return this.lose(`${error instanceof Error ? error.message : String(error)} on a ${connection} connection`);
    }
  }

  private lose(what: string): string {
    const now = (performance.now() - this.begin) / 1000;
    this.losses.set(what, { first: this.losses.get(what)?.first ?? now, last: now });
    return what;
  }
}
