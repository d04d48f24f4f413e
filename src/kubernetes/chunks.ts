import type { Readable } from 'node:stream';
import { monotonicNow } from '../time/clock.ts';
import { alwaysOpen, letOthersRun, SharedSlice, slice } from '../time/slices.ts';
import type { ReadingPace } from './reading-pace.ts';

/** The slice of all responses that are read piece by piece: a process follows dozens of kinds, and events of all of them may arrive together. */
export const readingSlice = new SharedSlice();

/**
 * Yields the bytes of a response as they arrive, in one piece if several have arrived in the meantime. Reads at most one piece ahead.
 * Takes less than an iterator of Node does, which matters for watches: each event is a piece.
 *
 * @param pace when to read on after each piece; without it, at once, but a reader that works for long gives others a turn: Node reads up to 32
 *   pieces of 64 KiB from a connection in one turn of the event loop
 * @throws the error of the response, or an error if the connection is closed before its end
 */
export async function* readChunks(response: Readable, pace?: ReadingPace): AsyncGenerator<Uint8Array, void, void> {
  const arrivals = new Arrivals(response, pace);
  /** Milliseconds of the reader since it last gave others a turn. */
  let work = 0;
  try {
    for (let piece = await arrivals.take(); piece !== undefined; piece = await arrivals.take()) {
      const begun = monotonicNow();
      yield piece;
      const duration = monotonicNow() - begun;
      work += duration;
      readingSlice.note(duration);
      const pause = pace?.pause();
      if (pause !== undefined) await arrivals.rest(pause);
      else if (readingSlice.isUsedUp()) await arrivals.yield(work);
      else continue;
      work = 0;
    }
  } finally {
    response.destroy();
  }
}

class Arrivals {
  private readonly response: Readable;
  private readonly pieces: Buffer[] = [];
  private ended = false;
  private failure: Error | undefined;
  /** Wakes the reader. */
  private wake: (() => void) | undefined;
  /** Whether bytes are collected without a reader that waits for them. */
  private isCollecting = false;

  constructor(response: Readable, pace: ReadingPace | undefined) {
    this.response = response;
    response.on('data', (piece: Buffer) => {
      this.pieces.push(piece);
      pace?.noteArrival(piece.length);
      if (this.wake === undefined && (!this.isCollecting || pace?.isFull === true)) response.pause();
      this.wake?.();
    });
    response.on('end', () => {
      this.ended = true;
      this.wake?.();
    });
    response.on('error', (error) => {
      this.failure = error;
      this.wake?.();
    });
    response.on('close', () => {
      if (!this.ended) this.failure ??= new Error('the connection was closed within a response');
      this.wake?.();
    });
  }

  /** Returns what has arrived since the last call, or as soon as something arrives; `undefined` at the end. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.pieces.length === 0) {
      if (this.failure !== undefined) throw this.failure;
      if (this.ended) return undefined;
      await this.next();
    }
    const [first, ...others] = this.pieces.splice(0);
    return others.length === 0 ? first : Buffer.concat([first ?? Buffer.alloc(0), ...others]);
  }

  async rest({ over, read }: { readonly over: Promise<void>; readonly read: Promise<void> }): Promise<void> {
    this.response.pause();
    await over;
    this.isCollecting = true;
    this.response.resume();
    await read;
    this.isCollecting = false;
  }

  /** Gives others turns after `work` milliseconds. */
  async yield(work: number): Promise<void> {
    this.response.pause();
    await letOthersRun(work / slice, alwaysOpen);
  }

  private async next(): Promise<void> {
    if (this.response.isPaused()) this.response.resume();
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.wake = undefined;
  }
}
