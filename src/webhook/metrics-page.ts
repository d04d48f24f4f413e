import { monotonicNow } from '../time/clock.ts';
import { NextTurn } from '../time/next-turn.ts';

/** The pause after a page, as a multiple of the time that it took: however many ask for pages, the process serves others most of the time. */
const pauses = 3;
const longestPause = 1_000;

/**
 * The page of metrics. All requests that arrive before a page is begun share it: one takes milliseconds, and hundreds of requests can
 * arrive in the same moment. No page is older than the request for it.
 */
export class MetricsPage {
  private readonly scrape: () => Promise<string>;
  private readonly nextTurn = new NextTurn(() => void this.write());
  /** The next page, once it is asked for. */
  private asked: PromiseWithResolvers<string> | undefined;
  private isWriting = false;
  /** By `monotonicNow`. */
  private restsUntil = 0;

  constructor(scrape: () => Promise<string>) {
    this.scrape = scrape;
  }

  read(): Promise<string> {
    this.asked ??= Promise.withResolvers();
    this.request();
    return this.asked.promise;
  }

  private request(): void {
    if (this.asked === undefined || this.isWriting) return;
    const rest = this.restsUntil - monotonicNow();
    if (rest > 0) this.nextTurn.requestAfter(rest);
    else this.nextTurn.request();
  }

  private async write(): Promise<void> {
    const { asked } = this;
    this.asked = undefined;
    this.isWriting = true;
    const began = monotonicNow();
    try {
      asked?.resolve(await this.scrape());
    } catch (error) {
      asked?.reject(error);
    }
    const now = monotonicNow();
    this.restsUntil = now + Math.min(pauses * (now - began), longestPause);
    this.isWriting = false;
    this.request();
  }
}
