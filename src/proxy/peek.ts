import type { Socket } from 'node:net';

export type WireProtocol = 'tls' | 'http2' | 'http1';

// RFC 9113 section 3.4.
const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
// RFC 8446 section 5.1: the record type of a handshake, which a ClientHello opens.
const tlsHandshake = 0x16;

/** What the first bytes of a connection open; `undefined` while they may still become an HTTP/2 preface. */
export function detectProtocol(bytes: Buffer): WireProtocol | undefined {
  if (bytes[0] === tlsHandshake) return 'tls';
  const known = Math.min(bytes.length, http2Preface.length);
  if (bytes.compare(http2Preface, 0, known, 0, known) !== 0) return 'http1';
  return known === http2Preface.length ? 'http2' : undefined;
}

/** How the first bytes of a connection are read. */
export interface StartReader<T> {
  /** Milliseconds. */
  readonly timeout: number;
  /** Told if the time is over; `failed` follows. */
  readonly overdue: () => void;
  /** Ends a connection that ends, fails, or stays undecided for too long. */
  readonly failed: () => void;
  /** Reads all bytes so far; `undefined` while they do not suffice. `taken` bytes are not given back. */
  readonly read: (bytes: Buffer) => { readonly found: T; readonly taken: number } | undefined;
}

/**
 * Reads the first bytes of a connection and gives back to it those that were not taken, so that whoever takes it over reads from there.
 * `handOver` or `failed` comes once.
 */
export function readStart<T>(socket: Socket, { timeout, overdue, failed, read }: StartReader<T>, handOver: (found: T) => void): void {
  let seen = Buffer.alloc(0);
  const timer = setTimeout(() => {
    overdue();
    giveUp();
  }, timeout);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', stop);
  };
  const giveUp = (): void => {
    stop();
    failed();
  };
  const look = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    seen = Buffer.concat([seen, bytes]);
    const start = read(seen);
    if (start === undefined) return;
    stop();
    if (start.taken < seen.length) socket.unshift(seen.subarray(start.taken));
    handOver(start.found);
  };
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('close', stop);
}

/**
 * Looks at the first bytes of a connection and gives them back to it. A connection that ends, fails, or stays undecided for `timeout`
 * milliseconds is closed, and nothing is handed over; `overdue` is told of the latter.
 */
export function peek(socket: Socket, { timeout, overdue }: Pick<StartReader<WireProtocol>, 'timeout' | 'overdue'>, handOver: (protocol: WireProtocol, socket: Socket) => void): void {
  const read = (bytes: Buffer): { readonly found: WireProtocol; readonly taken: number } | undefined => {
    const protocol = detectProtocol(bytes);
    return protocol === undefined ? undefined : { found: protocol, taken: 0 };
  };
  readStart(socket, { timeout, overdue, read, failed: () => socket.destroy() }, (protocol) => handOver(protocol, socket));
}
