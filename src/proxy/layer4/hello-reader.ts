import type { Socket } from 'node:net';
import { parseClientHello } from './client-hello.ts';
import type { ClientHello } from './client-hello.ts';

/** Maximum length of a ClientHello in bytes, as in OpenSSL; with post-quantum key shares it has about 2,000. */
export const longestHello = 16 * 1024;

const recordHeader = 5;
const messageHeader = 4;
const longestRecord = 16 * 1024;
const handshake = 22;
const clientHello = 1;

/** The reason why a connection has no valid ClientHello. */
export type HelloFailure = 'malformed' | 'too-long';

/**
 * Assembles a ClientHello from the first bytes of a connection, in any number of chunks and records (RFC 8446 section
 * 5.1). Each byte is processed once.
 */
export class HelloReader {
  /** The received bytes; those after `length` are unused. */
  private raw: Buffer = Buffer.alloc(0);
  private length = 0;
  private position = 0;
  /** Unread bytes of the current record. */
  private left = 0;
  /** The header of the handshake message, and once its length is known, the complete message. */
  private message: Buffer = Buffer.alloc(messageHeader);
  private filled = 0;
  private readonly limit: number;

  /** `limit` is the maximum number of bytes held, including record headers. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** All received bytes. */
  get bytes(): Buffer {
    return this.raw.subarray(0, this.length);
  }

  /** Adds bytes; returns `undefined` while the ClientHello is incomplete. */
  take(chunk: Buffer): ClientHello | HelloFailure | undefined {
    this.append(chunk);
    while (this.position < this.length) {
      if (this.left === 0 && !this.beginRecord()) break;
      this.copy();
      if (this.filled === this.message.length) {
        if (this.filled > messageHeader) return this.finish();
        const failure = this.beginMessage();
        if (failure !== undefined) return failure;
      }
    }
    if (this.isForeign) return 'malformed';
    return this.length > this.limit ? 'too-long' : undefined;
  }

  /** Whether the current record cannot belong to a ClientHello. */
  private get isForeign(): boolean {
    if (this.left > 0) return false;
    const header = this.raw.subarray(this.position, this.length);
    if (header.length > 0 && header[0] !== handshake) return true;
    if (header.length > 1 && header[1] !== 3) return true;
    if (header.length < recordHeader) return false;
    const size = header.readUInt16BE(3);
    return size === 0 || size > longestRecord;
  }

  private beginRecord(): boolean {
    if (this.length - this.position < recordHeader || this.isForeign) return false;
    this.left = this.raw.readUInt16BE(this.position + 3);
    this.position += recordHeader;
    return true;
  }

  private copy(): void {
    const count = Math.min(this.left, this.length - this.position, this.message.length - this.filled);
    this.raw.copy(this.message, this.filled, this.position, this.position + count);
    this.position += count;
    this.left -= count;
    this.filled += count;
  }

  private beginMessage(): HelloFailure | undefined {
    const size = this.message.readUIntBE(1, 3);
    if (this.message[0] !== clientHello || size === 0) return 'malformed';
    if (size > longestHello) return 'too-long';
    this.message = Buffer.concat([this.message], messageHeader + size);
    return undefined;
  }

  /** A ClientHello ends with its record, because the client then waits for the server. */
  private finish(): ClientHello | HelloFailure {
    return (this.left === 0 ? parseClientHello(this.message.subarray(messageHeader)) : undefined) ?? 'malformed';
  }

  private append(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (this.length === 0) this.raw = chunk;
    else {
      if (length > this.raw.length) this.raw = Buffer.concat([this.bytes], Math.max(length, 2 * this.raw.length));
      chunk.copy(this.raw, this.length);
    }
    this.length = length;
  }
}

/** Limits of a ClientHello in bytes and milliseconds. */
export interface HelloLimits {
  readonly helloBytes: number;
  readonly tlsHandshakeTimeout: number;
}

/**
 * Reads the ClientHello at the beginning of a connection and unshifts its bytes, so that the next owner reads from the
 * start. `done` is called once, with the ClientHello or the reason of the failure. A closed connection is `malformed`.
 */
export function readHello(
  socket: Socket,
  limits: HelloLimits,
  done: (hello: ClientHello | HelloFailure | 'timeout') => void,
): void {
  const reader = new HelloReader(limits.helloBytes);
  const finish = (hello: ClientHello | HelloFailure | 'timeout'): void => {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', giveUp);
    if (typeof hello !== 'string') socket.unshift(reader.bytes);
    done(hello);
  };
  const timer = setTimeout(finish, limits.tlsHandshakeTimeout, 'timeout');
  const giveUp = (): void => finish('malformed');
  const look = (): void => {
    const chunk: Buffer | null = socket.read();
    const hello = chunk === null ? undefined : reader.take(chunk);
    if (hello !== undefined) finish(hello);
  };
  socket.on('readable', look).once('end', giveUp).once('error', giveUp).once('close', giveUp);
}
