import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { readingOf, type Reading } from '../../handshakes/reading.ts';
import { isAccepting } from '../../time/accepting.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { LinkedSet } from '../limits/linked-set.ts';

/** Bytes of one connection, and of all together, in one turn of the event loop before they must yield to others. */
const perConnection = 128 * 1024;
const perTurn = 1024 * 1024;
/** The bytes of shorter pieces are not counted, because those are ordinary requests and responses. */
const shortest = 2 * 1024;
/**
 * Pieces of all relays in one turn, however short, before further ones must yield. Libuv polls again and again, up to
 * 48 times, while 1,024 connections have something to read. Timers and new connections would wait for seconds.
 */
const piecesPerTurn = 256;

/** The property of a socket with its reader. */
const reader = Symbol('reader');

interface Read extends Socket {
  [reader]?: Reader;
}

/** Connections that wait for a later turn, in order of arrival. */
const waiting = new LinkedSet<Reader>(Symbol('waiting'));
let turn = 0;
let spent = 0;
let pieces = 0;
const next = new NextTurn(beginTurn);

/** The bytes read from a connection in a turn, and whether its owner wants more. */
class Reader {
  private readonly pauseSocket: () => Socket;
  private readonly resumeSocket: () => Socket;
  private isWanted: boolean;
  private isWaiting = false;
  private stopped: Reading | undefined;
  private readonly socket: Socket;
  private turn = 0;
  private bytes = 0;
  /** The share of the next turn that it is expected to take. */
  share = 0;

  constructor(socket: Socket) {
    this.socket = socket;
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
    this.share = bytes < shortest ? 1 / piecesPerTurn : perConnection / perTurn;
    waiting.add(this);
    this.stop();
  }

  /** Reads nothing until `goOn`. */
  stop(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.pauseSocket();
    this.stopDecrypting();
  }

  goOn(): void {
    this.isWaiting = false;
    if (!this.socket.destroyed && this.stopped?.reading === true) this.stopped.readStart();
    this.stopped = undefined;
    if (this.isWanted) this.resumeSocket();
  }

  /** A paused stream takes bytes until its buffer is full. With TLS, these can be thousands of records, each of which takes its time. */
  private stopDecrypting(): void {
    if (!(this.socket instanceof TLSSocket)) return;
    const reading = readingOf(this.socket);
    if (reading?.reading !== true) return;
    reading.readStop();
    this.stopped = reading;
  }

  private isTooMuch(bytes: number): boolean {
    if (this.turn !== turn) [this.turn, this.bytes] = [turn, 0];
    this.bytes += bytes;
    spent += bytes;
    next.request();
    return this.bytes >= perConnection || spent >= perTurn * turnShare() || pieces > piecesPerTurn * turnShare();
  }
}

/** Turns are short while connections arrive. */
function turnShare(): number {
  return isAccepting() ? perConnection / perTurn : 1;
}

/**
 * From now on the connection is read in turns with all others. Libuv reads up to 2 MiB of a connection before it polls
 * the next one. A few fast connections would delay all others for hundreds of milliseconds. `pause` and `resume` keep
 * their meaning. Whoever reads the connection calls the returned function with the length of each piece.
 */
export function inTurns(socket: Read): (bytes: number) => void {
  return (bytes) => {
    if (bytes >= shortest) readerOf(socket).received(bytes);
  };
}

/** Like `inTurns`, for connections whose short pieces are forwarded at once. So their number is limited, too. */
export function everyPieceInTurns(socket: Read): (bytes: number) => void {
  return (bytes) => {
    pieces += 1;
    next.request();
    if (bytes >= shortest || pieces > piecesPerTurn * turnShare()) readerOf(socket).received(bytes);
  };
}

/** Returns the reader of a connection. */
export function readerOf(socket: Read): Reader {
  return (socket[reader] ??= new Reader(socket));
}

function beginTurn(): void {
  turn += 1;
  spent = 0;
  pieces = 0;
  for (let left = turnShare(); left > 0;) {
    const first = waiting.first;
    if (first === undefined) break;
    waiting.delete(first);
    left -= first.share;
    first.goOn();
  }
  if (waiting.size > 0) next.request();
}
