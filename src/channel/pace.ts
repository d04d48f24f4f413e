import { setTimeout as delay } from 'node:timers/promises';

/** Work after which a peer pauses. The unit is a byte; each message takes as long as 4 KiB of a long one. */
const workOfTurn = 256 * 1024;
const workOfMessage = 4 * 1024;
/** Milliseconds. */
const pauseOfTurn = 25;

/**
 * The rate at which the messages of one peer are processed: 10 MiB or 2,560 messages per second. Flow control keeps the others at
 * the peer.
 */
export class Pace {
  private work = 0;

  /** Counts a message of `length` bytes. Returns the milliseconds to wait before the next one. */
  after(length: number): number {
    this.work += length + workOfMessage;
    const turns = Math.floor(this.work / workOfTurn);
    this.work -= turns * workOfTurn;
    return turns * pauseOfTurn;
  }

  /** Waits after a message of `length` bytes if the peer has sent too much. */
  async wait(length: number): Promise<void> {
    const pause = this.after(length);
    if (pause > 0) await delay(pause);
  }
}
