import type { Socket } from 'node:net';
import { LinkedSet } from './linked-set.ts';

/** Bytes that one connection, and all of them together, bring in one turn of the event loop before the others come first. */
const perConnection = 128 * 1024;
const perTurn = 1024 * 1024;
/** Shorter pieces are ordinary requests and responses, which nobody counts. */
const shortest = 2 * 1024;

/** Whose next bytes wait for a later turn; those that wait longest come first. */
const waiting = new LinkedSet<Reader>();
let turn = 0;
let spent = 0;
let isScheduled = false;
let hasAccepted = false;

/** How far a connection has been read in a turn, and whether its owner wants more of it. */
class Reader {
  private readonly resumeSocket: () => Socket;
  private isWanted = true;
  private isWaiting = false;
  private turn = 0;
  private bytes = 0;

  constructor(socket: Socket) {
    const pause = socket.pause.bind(socket);
    const resume = socket.resume.bind(socket);
    this.resumeSocket = resume;
    socket.pause = () => {
      this.isWanted = false;
      return pause();
    };
    socket.resume = () => {
      this.isWanted = true;
      return this.isWaiting ? socket : resume();
    };
    socket.on('data', (bytes: Buffer) => {
      if (bytes.length < shortest || !this.isTooMuch(bytes.length) || this.isWaiting) return;
      this.isWaiting = true;
      waiting.add(this);
      pause();
    });
    socket.once('close', () => waiting.delete(this));
  }

  goOn(): void {
    this.isWaiting = false;
    if (this.isWanted) this.resumeSocket();
  }

  private isTooMuch(bytes: number): boolean {
    if (this.turn !== turn) [this.turn, this.bytes] = [turn, 0];
    this.bytes += bytes;
    spent += bytes;
    schedule();
    return this.bytes >= perConnection || spent >= (hasAccepted ? perConnection : perTurn);
  }
}

/**
 * A port has accepted a connection in this turn. Node accepts one in each turn, so that a burst of them waits for as many turns as it has
 * connections: until it is over, turns are short.
 */
export function acceptedInTurn(): void {
  hasAccepted = true;
  schedule();
}

/**
 * From now on the connection is read in turns with all others. Libuv reads up to 2 MiB of a connection before it looks at the next one:
 * a few that bring as much as the process can take would keep everybody else waiting for hundreds of milliseconds. `pause` and `resume`
 * mean what they always do.
 */
export function readInTurns(socket: Socket): void {
  // It lives for as long as the listeners that it has added.
  void new Reader(socket);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(nextTurn);
}

function nextTurn(): void {
  isScheduled = false;
  turn += 1;
  spent = 0;
  const most = hasAccepted ? 1 : perTurn / perConnection;
  hasAccepted = false;
  for (let count = 0; count < most; count += 1) {
    const reader = waiting.first;
    if (reader === undefined) return;
    waiting.delete(reader);
    reader.goOn();
  }
  if (waiting.size > 0) schedule();
}
