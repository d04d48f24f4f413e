import type { Socket } from 'node:net';
import { isAccepting } from '../../time/accepting.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { LinkedSet } from '../limits/linked-set.ts';

/** Bytes of one connection, and of all together, in one turn of the event loop before they must yield to others. */
const perConnection = 128 * 1024;
const perTurn = 1024 * 1024;
/** Shorter chunks are ordinary requests and responses, and are not counted. */
const shortest = 2 * 1024;

/** The property of a socket with its reader. */
const reader = Symbol('reader');

interface Read extends Socket {
  [reader]?: Reader;
}

/** Connections that wait for a later turn, in order of arrival. */
const waiting = new LinkedSet<Reader>();
let turn = 0;
let spent = 0;
const next = new NextTurn(beginTurn);

/** The bytes read from a connection in a turn, and whether its owner wants more. */
class Reader {
  private readonly pauseSocket: () => Socket;
  private readonly resumeSocket: () => Socket;
  private isWanted: boolean;
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
    this.pauseSocket = pause;
    this.isWanted = !socket.isPaused();
    socket.once('close', () => waiting.delete(this));
  }

  received(bytes: number): void {
    if (!this.isTooMuch(bytes) || this.isWaiting) return;
    this.isWaiting = true;
    waiting.add(this);
    this.pauseSocket();
  }

  goOn(): void {
    this.isWaiting = false;
    if (this.isWanted) this.resumeSocket();
  }

  private isTooMuch(bytes: number): boolean {
    if (this.turn !== turn) [this.turn, this.bytes] = [turn, 0];
    this.bytes += bytes;
    spent += bytes;
    next.request();
    return this.bytes >= perConnection || spent >= (isAccepting() ? perConnection : perTurn);
  }
}

/**
 * From now on the connection is read in turns with all others. Libuv reads up to 2 MiB of a connection before it polls
 * the next one. A few fast connections would delay all others for hundreds of milliseconds. `pause` and `resume` keep
 * their meaning. Whoever reads the connection calls the returned function with the length of each piece.
 */
export function inTurns(socket: Read): (bytes: number) => void {
  return (bytes) => {
    if (bytes >= shortest) (socket[reader] ??= new Reader(socket)).received(bytes);
  };
}

function beginTurn(): void {
  turn += 1;
  spent = 0;
  const maxReads = isAccepting() ? 1 : perTurn / perConnection;
  for (let count = 0; count < maxReads; count += 1) {
    const first = waiting.first;
    if (first === undefined) break;
    waiting.delete(first);
    first.goOn();
  }
  if (waiting.size > 0) next.request();
}
