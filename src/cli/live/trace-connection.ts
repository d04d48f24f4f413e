import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  readTrace,
  readTraceAnswer,
  signTrace,
  traceBytes,
  traceProtocol,
  traceStart,
  type TracedConnection,
  type TraceReport,
} from '../../channel/trace.ts';
import { wallNow } from '../../time/clock.ts';

/** Where a data plane listens. */
export interface DataPlaneAddress {
  readonly host: string;
  readonly port: number;
}

/** A connection or datagram to a data plane. */
export interface ConnectionCall extends DataPlaneAddress {
  readonly connection: TracedConnection;
  /** The key of the Gateway. */
  readonly key: string;
}

/** Milliseconds until a connection must have been answered. */
const patience = 10_000;
/** Milliseconds until a datagram must have been answered, and how often it is sent. */
const datagramPatience = 1_000;
const attempts = 3;
/** Maximum number of bytes that a server may send before the answer. */
const maxBytes = 1024 * 1024;

/**
 * Sends a trace of a connection or datagram, and takes the answer.
 *
 * @returns `undefined` if there was no answer with a valid signature
 * @throws errors of the connection, with a message for people
 */
export async function sendConnectionTrace(call: ConnectionCall): Promise<TraceReport | undefined> {
  const { connection, key } = call;
  for (let attempt = 1; ; attempt += 1) {
    // A signature can be used once, and an answer can get lost.
    const signed = signTrace(key, connection, wallNow());
    const received = await exchange(call, signed);
    if (received !== undefined) return readTraceAnswer(key, readTrace(signed)?.nonce ?? '', received);
    if (attempt === attempts) return undefined;
  }
}

/** Returns the received bytes; `undefined` if a datagram or its answer may be lost. */
async function exchange({ connection, ...place }: ConnectionCall, signed: string): Promise<Buffer | undefined> {
  switch (connection.protocol) {
    case 'TCP':
      return overTcp(place, traceBytes(signed), () => false);
    case 'TLS': {
      const hello = await helloOf(connection.serverName, `${traceProtocol}${signed}`);
      // The answer comes before TLS. Anything else is a TLS server that waits for the rest of the handshake.
      return overTcp(place, hello, ([first]) => first !== traceStart[0]);
    }
    case 'UDP':
      return overUdp(place, traceBytes(signed));
  }
}

/** Sends bytes, and receives until the other side closes the connection, or `isEnough`. */
function overTcp(
  { host, port }: DataPlaneAddress,
  bytes: Buffer,
  isEnough: (received: Buffer) => boolean,
): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const socket = connect({ host, port }, () => socket.write(bytes));
  const finish = (): void => {
    resolve(Buffer.concat(chunks));
    socket.destroy();
  };
  socket.setTimeout(patience, () => {
    if (socket.connecting) socket.destroy(new Error(`no connection within ${patience / 1000} seconds`));
    else finish();
  });
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    if (isEnough(chunk) || socket.bytesRead > maxBytes) finish();
  });
  socket.on('end', finish).on('error', (error: NodeJS.ErrnoException) => {
    // A data plane without the key, or with another configuration, may reset the connection.
    if (error.code === 'ECONNRESET') finish();
    else reject(error);
  });
  return promise;
}

/** The ClientHello of a client that offers one protocol. */
async function helloOf(servername: string, protocol: string): Promise<Buffer> {
  const [near, far] = duplexPair();
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  far.once('data', resolve);
  const tls = connectTls({ socket: near, servername, ALPNProtocols: [protocol] }).on('error', () => undefined);
  const hello = await promise;
  tls.destroy();
  return hello;
}

async function overUdp({ host, port }: DataPlaneAddress, bytes: Buffer): Promise<Buffer | undefined> {
  const { address, family } = await lookup(host);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  const timer = setTimeout(resolve, datagramPatience, undefined);
  socket.on('message', resolve).on('error', reject);
  socket.connect(port, address, () => socket.send(bytes));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
