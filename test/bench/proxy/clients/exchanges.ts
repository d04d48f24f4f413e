import { setTimeout as pause } from 'node:timers/promises';
import { completedOf, type Client, type Peer } from '../measurement.ts';

/** One connection, stream or flow, with at most one message on the way. */
export interface Channel {
  /** Sends a message. `Events.onReply` is called once for the reply. */
  send(): void | Promise<void>;
}

/** What a channel reports. */
export interface Events {
  readonly onReply: () => void;
  readonly onFailure: (error: Error) => void;
}

/** The channels of a load. */
export interface Channels {
  readonly list: readonly Channel[];
  close(): void;
}

/** Opens all channels. Calls `eventsOf` once for each, with its position. */
export type OpenChannels = (target: Peer, eventsOf: (position: number) => Events) => Promise<Channels>;

/** Milliseconds to wait for the replies to the last messages. */
const patience = 5_000;
/** Milliseconds between two looks at the clock of a load with a rate. */
const tick = 1;

/**
 * Sends messages over channels: the next one after each reply, or at a rate. With a rate, a message that finds no idle
 * channel waits for one, and its latency includes the wait. Fails if a reply does not come.
 */
export function exchanges(open: OpenChannels): Client {
  return async (target, { seconds, rate }) => {
    const load = new ExchangeLoad(target.name);
    const channels = await open(target, (position) => load.eventsOf(position));
    try {
      const began = performance.now();
      load.begin(channels.list);
      await (rate === undefined ? load.saturate(seconds) : load.pace(rate, seconds));
      return completedOf(load.latencies, (performance.now() - began) / 1000);
    } finally {
      channels.close();
    }
  };
}

class ExchangeLoad {
  readonly latencies: number[] = [];
  private readonly name: string;
  private readonly sent: number[] = [];
  private readonly idle: number[] = [];
  private readonly failed = Promise.withResolvers<never>();
  /** Moments at which messages were due that wait for an idle channel. */
  private readonly waiting: number[] = [];
  private channels: readonly Channel[] = [];
  private sendsAgain = false;

  constructor(name: string) {
    this.name = name;
    // A failure between two waits must not end the process.
    this.failed.promise.catch(() => undefined);
  }

  eventsOf(position: number): Events {
    return {
      onReply: () => this.take(position),
      onFailure: (error) => this.failed.reject(error),
    };
  }

  begin(channels: readonly Channel[]): void {
    this.channels = channels;
    this.idle.push(...channels.keys());
  }

  async saturate(seconds: number): Promise<void> {
    this.sendsAgain = true;
    for (const position of this.idle.splice(0)) this.send(position, performance.now());
    await this.wait(seconds * 1000);
    this.sendsAgain = false;
    await this.settle();
  }

  async pace(rate: number, seconds: number): Promise<void> {
    const began = performance.now();
    for (let due = 0; due < rate * seconds;) {
      await this.wait(tick);
      const now = performance.now();
      for (; due < Math.min(rate * seconds, ((now - began) / 1000) * rate); due += 1) {
        const position = this.idle.shift();
        if (position === undefined) this.waiting.push(now);
        else this.send(position, now);
      }
    }
    await this.settle();
  }

  private send(position: number, since: number): void {
    this.sent[position] = since;
    void this.channels[position]?.send();
  }

  private take(position: number): void {
    const now = performance.now();
    this.latencies.push(now - (this.sent[position] ?? Number.NaN));
    const due = this.sendsAgain ? now : this.waiting.shift();
    if (due === undefined) this.idle.push(position);
    else this.send(position, due);
  }

  private async settle(): Promise<void> {
    const end = performance.now() + patience;
    while (this.idle.length < this.channels.length) {
      const missing = this.channels.length - this.idle.length;
      if (performance.now() > end)
        throw new Error(
          `${this.name}: ${missing} of ${this.channels.length} channels got no reply within ${patience} ms`,
        );
      await this.wait(1);
    }
  }

  private wait(milliseconds: number): Promise<void> {
    return Promise.race([pause(milliseconds), this.failed.promise]);
  }
}
