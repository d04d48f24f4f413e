import type { Socket } from 'node:net';
import { isAccepting } from '../../time/accepting.ts';
import { monotonicNow, turnNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { slice } from '../../time/slices.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { owned } from '../limits/read-buffer.ts';
import { readerOf } from './read-in-turns.ts';

const connectionPlace = Symbol('connection');
const backendPlace = Symbol('backend');

/** Bytes of all backends that may wait for a later turn of the event loop. Further ones are handled at once. */
const mostHeld = 16 * 1024 * 1024;
let held = 0;

/** Backends with bytes that wait, the next one first. */
const order = new LinkedSet<BackendTurns>(backendPlace);
const next = new NextTurn(handleHeld);

/**
 * The connections to one backend, whose bytes are handled in turns with those of all other backends. Libuv polls again and again, up to 48 times,
 * while 1,024 connections have something to read. Thousands of responses that arrive together would delay all others until the last one is
 * forwarded. After a slice of time in one turn of the event loop, further bytes wait, and backends take turns.
 */
export class BackendTurns {
  /** Connections with bytes that wait, the next one first. */
  readonly waiting = new LinkedSet<HeldPieces>(connectionPlace);

  /**
   * @param handle is called with each piece, or with all that waited, before other listeners of `end` and `close`
   * @returns what to call with each piece, which may be borrowed
   */
  of(socket: Socket, handle: (bytes: Buffer) => void): (bytes: Buffer) => void {
    let pieces: HeldPieces | undefined;
    return (bytes) => {
      if (order.size === 0 && monotonicNow() - turnNow() < sliceOfTurn()) handle(bytes);
      else (pieces ??= new HeldPieces(this, socket, handle)).take(bytes);
    };
  }
}

/** The bytes of one connection that wait. */
class HeldPieces {
  private readonly backend: BackendTurns;
  private readonly socket: Socket;
  private readonly handle: (bytes: Buffer) => void;
  private pieces: Buffer[] = [];
  private length = 0;
  private isOver = false;

  constructor(backend: BackendTurns, socket: Socket, handle: (bytes: Buffer) => void) {
    this.backend = backend;
    this.socket = socket;
    this.handle = handle;
    const end = (): void => {
      this.isOver = true;
      this.release();
    };
    socket.prependOnceListener('end', end).prependOnceListener('close', end);
  }

  /** Takes a piece that came after the slice of its turn. */
  take(bytes: Buffer): void {
    if (this.isOver || held + bytes.length > mostHeld) {
      this.release();
      this.handle(bytes);
      return;
    }
    this.pieces.push(owned(bytes));
    this.length += bytes.length;
    held += bytes.length;
    if (this.pieces.length > 1) return;
    readerOf(this.socket).stop();
    this.backend.waiting.add(this);
    if (!order.has(this.backend)) order.add(this.backend);
    next.request();
  }

  /** Handles what waits. */
  release(): void {
    if (this.pieces.length === 0) return;
    const bytes = this.pieces.length === 1 ? this.pieces[0] : undefined;
    const all = bytes ?? Buffer.concat(this.pieces);
    held -= this.length;
    this.length = 0;
    this.pieces = [];
    this.backend.waiting.delete(this);
    if (this.backend.waiting.size === 0) order.delete(this.backend);
    readerOf(this.socket).goOn();
    this.handle(all);
  }
}

/** Turns are short while connections arrive. */
function sliceOfTurn(): number {
  return isAccepting() ? slice / 8 : slice;
}

function handleHeld(): void {
  const began = monotonicNow();
  do {
    const backend = order.first;
    if (backend === undefined) return;
    order.add(backend);
    backend.waiting.first?.release();
  } while (monotonicNow() - began < sliceOfTurn());
  if (order.size > 0) next.request();
}
