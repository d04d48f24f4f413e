import { hostnameKey } from '../../core/text/hostname.ts';

/** The parts of a TLS ClientHello that select a listener and a route. */
export interface ClientHello {
  /** The name of the server_name extension in lower case (RFC 6066 section 3); `''` without the extension. */
  readonly serverName: string;
  /** The offered protocols in the client's order (RFC 7301); empty without the extension. */
  readonly protocols: readonly string[];
}

/**
 * Parses the body of a ClientHello message (RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2), without the header of
 * the handshake message.
 *
 * Every length must match exactly. Unknown extensions, cipher suites and key shares are skipped, so GREASE (RFC 8701)
 * has no effect.
 *
 * @returns `undefined` if the message is malformed
 */
export function parseClientHello(body: Buffer): ClientHello | undefined {
  const cursor = new Cursor(body);
  const majorVersion = cursor.number(1);
  cursor.skip(1 + randomBytes);
  const session = cursor.vector(1);
  const suites = cursor.vector(2);
  const compressions = cursor.vector(1);
  if (majorVersion !== 3 || session.length > longestSession) return undefined;
  if (suites.length < 2 || suites.length % 2 !== 0 || compressions.length === 0) return undefined;
  // Extensions are optional up to TLS 1.2.
  if (cursor.isAtEnd) return { serverName: '', protocols: [] };
  const extensions = cursor.vector(2);
  return cursor.isAtEnd ? readExtensions(new Cursor(extensions)) : undefined;
}

const randomBytes = 32;
const longestSession = 32;
const extensionTypes = { serverName: 0, protocols: 16 };

function readExtensions(cursor: Cursor): ClientHello | undefined {
  const seen = new Set<number>();
  let serverName: string | undefined = '';
  let protocols: readonly string[] | undefined = [];
  while (!cursor.isOver) {
    const type = cursor.number(2);
    const content = new Cursor(cursor.vector(2));
    // RFC 8446 section 4.2: an extension must not be repeated.
    if (seen.has(type)) return undefined;
    seen.add(type);
    if (type === extensionTypes.serverName) serverName = readServerName(content);
    else if (type === extensionTypes.protocols) protocols = readProtocols(content);
  }
  if (!cursor.isAtEnd || serverName === undefined || protocols === undefined) return undefined;
  return { serverName, protocols };
}

const hostName = 0;
const printable = /^[\x21-\x7e]{1,255}$/;

/** RFC 6066 section 3: one name per type, and host_name is the only defined type. */
function readServerName(cursor: Cursor): string | undefined {
  const names = new Cursor(cursor.vector(2));
  const type = names.number(1);
  const name = names.vector(2).toString('latin1');
  return cursor.isAtEnd && names.isAtEnd && type === hostName && printable.test(name) ? hostnameKey(name) : undefined;
}

/** RFC 7301 section 3.1. */
function readProtocols(cursor: Cursor): readonly string[] | undefined {
  const names = new Cursor(cursor.vector(2));
  const protocols: string[] = [];
  while (!names.isOver) protocols.push(names.vector(1).toString('latin1'));
  return cursor.isAtEnd && names.isAtEnd && protocols.length > 0 && !protocols.includes('') ? protocols : undefined;
}

const nothing = Buffer.alloc(0);

/** Reads consecutive numbers and vectors. After a length mismatch, all further reads are empty. */
class Cursor {
  private readonly bytes: Buffer;
  private position = 0;
  private failed = false;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Whether all bytes were read without a length mismatch. */
  get isAtEnd(): boolean {
    return !this.failed && this.position === this.bytes.length;
  }

  /** Whether no more reads are possible. */
  get isOver(): boolean {
    return this.failed || this.position === this.bytes.length;
  }

  number(size: 1 | 2): number {
    const bytes = this.take(size);
    return bytes.length === 0 ? 0 : bytes.readUIntBE(0, size);
  }

  /** Reads a vector with a length prefix of `size` bytes. */
  vector(size: 1 | 2): Buffer {
    return this.take(this.number(size));
  }

  skip(count: number): void {
    this.take(count);
  }

  private take(count: number): Buffer {
    this.failed ||= this.position + count > this.bytes.length;
    if (this.failed) return nothing;
    this.position += count;
    return this.bytes.subarray(this.position - count, this.position);
  }
}
