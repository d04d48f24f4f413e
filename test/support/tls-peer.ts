import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { vector } from './client-hello.ts';

const options = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const;

/** Session tickets that a server of OpenSSL sends after a handshake. */
const tickets = 2;

const applicationData = 23;
const handshakeType = 22;
const newSessionTicket = 4;
const keyUpdate = 24;

/** An end of a connection with TLS 1.3 that writes its records itself, so that it can send messages that Node never sends. */
export class TlsPeer {
  private readonly socket: Socket;
  private secret: Buffer;
  /** The number of the next record with these keys (RFC 8446 section 5.3). */
  private sequence: number;

  private constructor(socket: Socket, secret: Buffer, sequence: number) {
    this.socket = socket;
    this.secret = secret;
    this.sequence = sequence;
  }

  /** Completes a handshake as the client of a connection. */
  static async connect(socket: Socket): Promise<TlsPeer> {
    const [near, far] = duplexPair();
    const client = connect({ ...options, socket: near, servername: 'a.example', rejectUnauthorized: false });
    const secret = await secretOf(client, 'CLIENT', once(client, 'secureConnect'), { socket, far });
    return new TlsPeer(socket, secret, 0);
  }

  /** Completes a handshake as the server of a connection. */
  static async accept(
    socket: Socket,
    pair: { readonly cert: string | Buffer; readonly key: string | Buffer },
  ): Promise<TlsPeer> {
    const [near, far] = duplexPair();
    const server = new TLSSocket(near, { isServer: true, secureContext: createSecureContext({ ...options, ...pair }) });
    const secret = await secretOf(server, 'SERVER', once(server, 'secure'), { socket, far });
    return new TlsPeer(socket, secret, tickets);
  }

  /** A record with data. */
  data(text: string): Buffer {
    return this.record(applicationData, Buffer.from(text));
  }

  /** A record whose signature is invalid, which breaks TLS. */
  brokenRecord(): Buffer {
    const record = this.data('x');
    record.writeUInt8(record.readUInt8(record.length - 1) ^ 1, record.length - 1);
    return record;
  }

  /** A record that changes the keys of this side (RFC 8446 section 4.6.3), and asks for new ones of the other. */
  keyUpdate(): Buffer {
    const record = this.record(handshakeType, Buffer.from([keyUpdate, 0, 0, 1, 1]));
    this.secret = expandLabel(this.secret, 'traffic upd', 32);
    this.sequence = 0;
    return record;
  }

  /** A record with a session ticket of this size in bytes (RFC 8446 section 4.6.1). */
  sessionTicket(size: number): Buffer {
    const ticket = Buffer.alloc(size, this.sequence);
    const lifetimeAndAge = Buffer.from([0, 0, 1, 0, 0, 0, 0, 1]);
    const body = Buffer.concat([lifetimeAndAge, vector(1, Buffer.from([1])), vector(2, ticket), vector(2)]);
    return this.record(handshakeType, Buffer.concat([Buffer.from([newSessionTicket]), vector(3, body)]));
  }

  /** Many records that change the keys. */
  keyUpdates(count: number): Buffer {
    return Buffer.concat(Array.from({ length: count }, () => this.keyUpdate()));
  }

  write(records: Buffer): void {
    this.socket.write(records);
  }

  private record(type: number, content: Buffer): Buffer {
    const initial = expandLabel(this.secret, 'iv', 12);
    initial.writeUInt32BE((initial.readUInt32BE(8) ^ this.sequence) >>> 0, 8);
    this.sequence += 1;
    const cipher = createCipheriv('aes-128-gcm', expandLabel(this.secret, 'key', 16), initial);
    const plain = Buffer.concat([content, Buffer.from([type])]);
    const header = Buffer.from([applicationData, 3, 3, 0, 0]);
    header.writeUInt16BE(plain.length + 16, 3);
    cipher.setAAD(header);
    return Buffer.concat([header, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Passes the bytes of a handshake on until it is complete. Returns the first secret for the data of this side. */
async function secretOf(
  decrypted: TLSSocket,
  side: 'CLIENT' | 'SERVER',
  complete: Promise<unknown>,
  { socket, far }: { readonly socket: Socket; readonly far: Duplex },
): Promise<Buffer> {
  const forward = (bytes: Buffer): void => void far.write(bytes);
  socket.on('data', forward);
  far.on('data', (bytes: Buffer) => socket.write(bytes));
  const { promise, resolve } = Promise.withResolvers<string>();
  decrypted.on('error', () => undefined);
  decrypted.on('keylog', (line: Buffer) => {
    const [label, , secret = ''] = line.toString().trim().split(' ');
    if (label === `${side}_TRAFFIC_SECRET_0`) resolve(secret);
  });
  const [secret] = await Promise.all([promise, complete]);
  socket.off('data', forward);
  return Buffer.from(secret, 'hex');
}

/** HKDF-Expand-Label of RFC 8446 section 7.1 for at most 32 bytes. */
function expandLabel(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}
