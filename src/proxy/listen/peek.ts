import type { Socket } from 'node:net';
import { readBuffer, readPiece } from '../limits/read-buffer.ts';
import { readInto } from '../sockets/direct.ts';

export type WireProtocol = 'tls' | 'http2' | 'http1';

// RFC 9113 section 3.4.
const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
// RFC 8446 section 5.1: record type of a handshake, which begins with a ClientHello.
const tlsHandshake = 0x16;

/** Returns the protocol of the first bytes of a connection; `undefined` while they may still become an HTTP/2 preface. */
export function detectProtocol(bytes: Buffer): WireProtocol | undefined {
  if (bytes[0] === tlsHandshake) return 'tls';
  const known = Math.min(bytes.length, http2Preface.length);
  if (bytes.compare(http2Preface, 0, known, 0, known) !== 0) return 'http1';
  return known === http2Preface.length ? 'http2' : undefined;
}

/** Reads the first bytes of a connection. */
export interface StartReader<T> {
  /** Milliseconds. */
  readonly timeout: number;
  /** Called on a timeout, before `failed`. */
  readonly overdue: () => void;
  /** Called for a connection that ends, fails, or times out. */
  readonly failed: () => void;
  /** Parses all bytes so far; returns `undefined` while they do not suffice. The `taken` bytes are consumed. */
  readonly read: (bytes: Buffer) => { readonly found: T; readonly taken: number } | undefined;
}

/**
 * Reads the first bytes of a connection and unshifts those that were not consumed, so that the next owner reads from
 * there. Either `handOver` or `failed` is called, once.
 */
export function readStart<T>(
  socket: Socket,
  { timeout, overdue, failed, read }: StartReader<T>,
  handOver: (found: T) => void,
): void {
  let seen = nothing;
  const look = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    seen = Buffer.concat([seen, bytes]);
    const start = read(seen);
    if (start === undefined) return;
    stop();
    socket.off('readable', look);
    if (start.taken < seen.length) socket.unshift(seen.subarray(start.taken));
    handOver(start.found);
  };
  const giveUp = (): void => {
    socket.off('readable', look);
    failed();
  };
  const stop = whileOpen(socket, { timeout, overdue, failed: giveUp });
  socket.on('readable', look);
}

const nothing = Buffer.alloc(0);

/** Calls `failed` once if a connection ends, fails, or times out before the returned function is called. */
function whileOpen(socket: Socket, { timeout, overdue, failed }: Omit<StartReader<unknown>, 'read'>): () => void {
  const timer = setTimeout(() => {
    overdue();
    giveUp();
  }, timeout);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('end', giveUp).off('error', giveUp).off('close', stop);
  };
  const giveUp = (): void => {
    stop();
    failed();
  };
  socket.on('end', giveUp).on('error', giveUp).on('close', stop);
  return stop;
}

/** Receives the protocol of a connection. The bytes from which it was detected are unshifted. */
export type ProtocolReceiver = (protocol: WireProtocol, socket: Socket) => void;

/**
 * Detects the protocol of a connection by its first bytes and unshifts them. A connection that ends, fails, or stays
 * undecided for `timeout` milliseconds is closed without calling `handOver`; `overdue` is called on the timeout.
 */
export function peek(
  socket: Socket,
  { timeout, overdue }: Pick<StartReader<WireProtocol>, 'timeout' | 'overdue'>,
  handOver: ProtocolReceiver,
): void {
  let seen = nothing;
  const received = (length: number): boolean => {
    const piece = readPiece(length);
    seen = seen.length === 0 ? Buffer.from(piece) : Buffer.concat([seen, piece]);
    const protocol = detectProtocol(seen);
    if (protocol === undefined) return true;
    stop();
    socket.unshift(seen);
    // With TLS, the socket keeps the reader below for as long as the connection lasts.
    seen = nothing;
    readInto(socket, readBuffer, (more) => socket.push(Buffer.from(readPiece(more))));
    handOver(protocol, socket);
    return true;
  };
  // Bytes that are in the stream already, for example those after a PROXY header, are read from there.
  if (socket.readableLength > 0 || !readInto(socket, readBuffer, received)) {
    peekStream(socket, { timeout, overdue }, handOver);
    return;
  }
  const stop = whileOpen(socket, { timeout, overdue, failed: () => socket.destroy() });
  socket.read(0);
}

function peekStream(
  socket: Socket,
  { timeout, overdue }: Pick<StartReader<WireProtocol>, 'timeout' | 'overdue'>,
  handOver: ProtocolReceiver,
): void {
  const read = (bytes: Buffer): { readonly found: WireProtocol; readonly taken: number } | undefined => {
    const found = detectProtocol(bytes);
    return found === undefined ? undefined : { found, taken: 0 };
  };
  readStart(socket, { timeout, overdue, read, failed: () => socket.destroy() }, (found) => handOver(found, socket));
}
