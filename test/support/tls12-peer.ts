import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';

const options = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const;

const handshakeType = 22;
const applicationData = 23;

/** The server of a connection with TLS 1.2 that writes its records itself, so that it can send messages that Node never sends. */
export class Tls12Peer {
  private readonly socket: Socket;
  private readonly keys: Keys;
  /** The number of the next record. The first one of these keys was the end of the handshake. */
  private sequence = 1n;

  private constructor(socket: Socket, keys: Keys) {
    this.socket = socket;
    this.keys = keys;
  }

  /** Completes a handshake as the server of a connection. */
  static async accept(
    socket: Socket,
    pair: { readonly cert: string | Buffer; readonly key: string | Buffer },
  ): Promise<Tls12Peer> {
    const [near, far] = duplexPair();
    const server = new TLSSocket(near, { isServer: true, secureContext: createSecureContext({ ...options, ...pair }) });
    const block = await keyBlock(server, socket, far);
    return new Tls12Peer(socket, { key: block.subarray(16, 32), salt: block.subarray(36, 40) });
  }

  /** A record with data. */
  data(text: string): Buffer {
    return this.record(applicationData, Buffer.from(text));
  }

  /** A record in which a server asks for another handshake (RFC 5246 section 7.4.1.1). */
  helloRequest(): Buffer {
    return this.record(handshakeType, Buffer.alloc(4));
  }

  write(records: Buffer): void {
    this.socket.write(records);
  }

  /** A record with AES-GCM (RFC 5288 section 3). */
  private record(type: number, content: Buffer): Buffer {
    const explicit = Buffer.alloc(8);
    explicit.writeBigUInt64BE(this.sequence);
    this.sequence += 1n;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(content.length);
    const cipher = createCipheriv('aes-128-gcm', this.keys.key, Buffer.concat([this.keys.salt, explicit]));
    cipher.setAAD(Buffer.concat([explicit, Buffer.from([type, 3, 3]), length]));
    const body = Buffer.concat([explicit, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
    length.writeUInt16BE(body.length);
    return Buffer.concat([Buffer.from([type, 3, 3]), length, body]);
  }
}

interface Keys {
  readonly key: Buffer;
  readonly salt: Buffer;
}

/** Passes the bytes of a handshake on until it is complete. Returns the keys and salts of both sides (RFC 5246 section 6.3). */
async function keyBlock(decrypted: TLSSocket, socket: Socket, far: Duplex): Promise<Buffer> {
  const forward = (bytes: Buffer): void => void far.write(bytes);
  socket.on('data', forward);
  far.on('data', (bytes: Buffer) => socket.write(bytes));
  decrypted.on('error', () => undefined);
  const [[line], [serverHello]] = (await Promise.all([
    once(decrypted, 'keylog'),
    once(far, 'data'),
    once(decrypted, 'secure'),
  ])) as unknown as readonly [readonly [Buffer], readonly [Buffer]];
  socket.off('data', forward);
  const [, clientRandom = '', secret = ''] = line.toString().trim().split(' ');
  const seed = [Buffer.from('key expansion'), serverHello.subarray(11, 43), Buffer.from(clientRandom, 'hex')];
  return expand(Buffer.from(secret, 'hex'), Buffer.concat(seed));
}

/** The first 64 bytes of the pseudorandom function of TLS 1.2 (RFC 5246 section 5). */
function expand(secret: Buffer, seed: Buffer): Buffer {
  const hmac = (bytes: Buffer): Buffer => createHmac('sha256', secret).update(bytes).digest();
  const [first, second] = [hmac(seed), hmac(hmac(seed))];
  return Buffer.concat([hmac(Buffer.concat([first, seed])), hmac(Buffer.concat([second, seed]))]);
}
