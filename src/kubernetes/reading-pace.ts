import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum number of looks at the connections in a row. A look finds up to 64 KiB per connection, so this is 5 MiB for each. */
const mostLooks = 80;
/** Maximum bytes that all readers together collect after a pause. More stays in the connections until after the next one. */
const mostCollected = 8 * 1024 * 1024;

/** Milliseconds of work on events that need no rest: ordinary changes, and collections of garbage, take less. */
const shortWork = 50;
const longestRest = 5_000;

/** A pause, during which arrived bytes stay in the connections. */
export interface Pause {
  /** Resolves when the connections may be read again. */
  readonly over: Promise<void>;
  /** Resolves when all bytes that had arrived by then have been read. */
  readonly read: Promise<void>;
}

interface Pausing {
  readonly over: PromiseWithResolvers<void>;
  readonly read: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
}

/**
 * When watches read on after they have received events. During a pause, events wait in the connections, and all of them are then
 * read at once: a process that wakes up for each event takes several times the processor time for it. One pause serves all watches.
 *
 * Events that take long, such as the change of a Gateway with thousands of routes, are followed by a pause as long as the work. Then
 * whoever changes such an object again and again cannot keep the process from all other work.
 */
export class ReadingPace {
  private readonly lengthNow: () => number;
  private pausing: Pausing | undefined;
  /** Resolves when the readers have received what had arrived at the end of the last pause. */
  private reading: Promise<void> | undefined;
  /** The pause in milliseconds that the last work needs. */
  private restDue = 0;
  /** Number of times that bytes arrived. */
  private arrivals = 0;
  /** Bytes that arrived since the end of the last pause. */
  private collected = 0;

  /** @param lengthNow returns the current length of pauses in milliseconds. 0: events are read as they arrive */
  constructor(lengthNow: () => number) {
    this.lengthNow = lengthNow;
  }

  /** Call this when bytes of a watch have arrived. */
  noteArrival(bytes: number): void {
    this.arrivals += 1;
    this.collected += bytes;
  }

  /** Whether the readers that collect what has arrived must leave the rest in the connections. */
  get isFull(): boolean {
    return this.collected >= mostCollected;
  }

  /** Call this after work on events, with its milliseconds, before `pause`. */
  noteWork(duration: number): void {
    this.restDue = duration < shortWork ? 0 : Math.min(duration, longestRest);
  }

  /** Returns the pause after events; `undefined`: there is none. */
  pause(): Pause | undefined {
    const length = Math.max(this.lengthNow(), this.restDue);
    this.restDue = 0;
    if (length === 0) return undefined;
    this.pausing ??= {
      over: Promise.withResolvers(),
      read: Promise.withResolvers(),
      timer: setTimeout(() => void this.catchUp(), length),
    };
    return { over: this.pausing.over.promise, read: this.pausing.read.promise };
  }

  /** Resolves when the readers have received all events that have arrived; `undefined` if no pause holds events back. */
  catchUp(): Promise<void> | undefined {
    if (this.pausing !== undefined) void this.follow(this.end(this.pausing));
    return this.reading;
  }

  private async follow(reading: Promise<void>): Promise<void> {
    this.reading = reading;
    await reading;
    // The next pause may have ended meanwhile.
    if (this.reading === reading) this.reading = undefined;
  }

  private async end({ over, read, timer }: Pausing): Promise<void> {
    this.pausing = undefined;
    this.collected = 0;
    clearTimeout(timer);
    over.resolve();
    let before: number;
    let looks = 0;
    do {
      before = this.arrivals;
      // The event loop looks at the connections between the two turns.
      await nextTurn();
      await nextTurn();
      looks += 1;
    } while (this.arrivals !== before && looks < mostLooks);
    read.resolve();
    // Readers take the events before the next turn.
    await nextTurn();
  }
}
