import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Channel, OpenChannels } from '../proxy/clients/exchanges.ts';
import { flows } from '../proxy/clients/flows.ts';
import { webSockets } from '../proxy/clients/websocket.ts';
import { paths, type Ports } from '../proxy/configurations.ts';
import { grpcMessage } from '../proxy/messages.ts';

const host = '127.0.0.1';
/** Milliseconds for one call. */
const patience = 30_000;
const upload = 'x'.repeat(10_240);
/** Messages of a stream, connection or flow before it ends. */
const messages = 50;

/** One kind of traffic. */
export interface Traffic {
  readonly name: string;
  /** Calls per second. */
  readonly rate: number;
  /** Resolves to the number of requests or messages. Throws if the answer is not the backend's. */
  call(): Promise<number>;
}

/** All kinds of traffic. `ca` is the PEM of the authority that issues the certificates of the data plane. */
export function trafficOf(ports: Ports, ca: string): { readonly kinds: readonly Traffic[]; close(): Promise<void> } {
  const pool = new Pool(`http://${host}:${ports.http}`, { connections: 16, pipelining: 1 });
  const get = async (path: string): Promise<number> => {
    const { statusCode, body } = await pool.request({ path, method: 'GET' });
    return requireAnswer(statusCode, await body.text(), 'ok');
  };
  const post = async (): Promise<number> => {
    const { statusCode, body } = await pool.request({ path: paths.small, method: 'POST', body: upload });
    return requireAnswer(statusCode, await body.text(), 'ok');
  };
  const large = async (): Promise<number> => {
    const { statusCode, body } = await pool.request({ path: paths.large, method: 'GET' });
    const { length } = await body.text();
    return requireAnswer(statusCode, String(length), String(100 * 1024));
  };
  return {
    kinds: [
      { name: 'GET', rate: 100, call: () => get(paths.small) },
      { name: 'POST', rate: 30, call: post },
      { name: 'large', rate: 10, call: large },
      { name: 'TLS', rate: 10, call: () => secureGet(ports, ca) },
      { name: 'HTTP/2', rate: 2, call: () => http2Session(ports, ca) },
      { name: 'gRPC', rate: 2, call: () => grpcStream(ports) },
      { name: 'WebSocket', rate: 2, call: () => exchange(webSockets(1, paths.webSocket), ports.http) },
      { name: 'TCP', rate: 10, call: () => tcpConnection(ports) },
      { name: 'UDP', rate: 2, call: () => exchange(flows(1), ports.udp) },
    ],
    close: () => pool.destroy(),
  };
}

/** Requires that a request of a path gets this value in a header of its response. */
export async function requireHeader(ports: Ports, path: string, header: readonly [string, string]): Promise<void> {
  const response = await fetch(`http://${host}:${ports.http}${path}`, { signal: AbortSignal.timeout(patience) });
  await response.text();
  const [name, value] = header;
  if (response.status !== 200 || response.headers.get(name) !== value)
    throw new Error(`${path}: status ${response.status}, ${name} is ${response.headers.get(name)}, must be ${value}`);
}

/** A request on a new connection, with a handshake that verifies the certificate. */
async function secureGet(ports: Ports, ca: string): Promise<number> {
  const request = requestHttps({
    host,
    port: ports.https,
    path: paths.small,
    agent: false,
    ca,
    servername: 'bench',
    timeout: patience,
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.on('timeout', () => request.destroy(new Error('timeout')));
  request.end();
  const [response] = await answered;
  return requireAnswer(response.statusCode, await text(response), 'ok');
}

/** A connection with some concurrent requests, which the client closes. */
async function http2Session(ports: Ports, ca: string): Promise<number> {
  const session = connectHttp2(`https://${host}:${ports.https}`, { ca, servername: 'bench' });
  const failed = once(session, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  try {
    const requests = Array.from({ length: messages }, async () => {
      const stream = session.request({ ':path': paths.small });
      stream.setTimeout(patience, () => stream.destroy(new Error('timeout')));
      const response = once(stream, 'response') as Promise<[{ ':status': number }]>;
      const [body, [head]] = await Promise.all([text(stream), response]);
      return requireAnswer(head[':status'], body, 'ok');
    });
    await Promise.race([Promise.all(requests), failed]);
    return messages;
  } finally {
    session.close();
  }
}

/** A bidirectional stream that the client ends. */
async function grpcStream(ports: Ports): Promise<number> {
  const session = connectHttp2(`http://${host}:${ports.grpc}`);
  const failed = once(session, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': paths.stream,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.setTimeout(patience, () => stream.destroy(new Error('timeout')));
    let status: unknown;
    let received = 0;
    stream.on('trailers', (trailers: Record<string, unknown>) => (status = trailers['grpc-status']));
    const ended = once(stream, 'end');
    ended.catch(() => undefined);
    let arrived = Promise.withResolvers<void>();
    stream.on('data', ({ length }: Buffer) => {
      received += length;
      if (received % grpcMessage.length === 0) arrived.resolve();
    });
    for (let count = 0; count < messages; count += 1) {
      arrived = Promise.withResolvers<void>();
      stream.write(grpcMessage);
      await Promise.race([arrived.promise, ended, failed]);
    }
    stream.end();
    await Promise.race([ended, failed]);
    if (status !== '0' || received !== messages * grpcMessage.length)
      throw new Error(`grpc-status ${String(status)} after ${received} bytes`);
    return messages;
  } finally {
    session.close();
  }
}

/** One request over a connection that a TCPRoute forwards, and that the backend closes. */
async function tcpConnection(ports: Ports): Promise<number> {
  const socket = connect({ host, port: ports.tcp, timeout: patience });
  socket.on('timeout', () => socket.destroy(new Error('timeout')));
  socket.write(`GET ${paths.small} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  return requireAnswer(Number(answer.slice(9, 12)), answer.slice(-2), 'ok');
}

/** Messages over one channel, one after another. */
async function exchange(open: OpenChannels, port: number): Promise<number> {
  let replied = Promise.withResolvers<void>();
  const target = { name: 'data plane', address: { host, port } };
  const channels = await open(target, () => ({
    onReply: () => replied.resolve(),
    onFailure: (error) => replied.reject(error),
  }));
  try {
    const [channel] = channels.list as readonly [Channel];
    for (let count = 0; count < messages; count += 1) {
      replied = Promise.withResolvers<void>();
      void channel.send();
      const timer = new AbortController();
      const late = pause(patience, undefined, { signal: timer.signal }).then(() =>
        Promise.reject(new Error(`no reply to message ${count} within ${patience} ms`)),
      );
      late.catch(() => undefined);
      await Promise.race([replied.promise, late]).finally(() => timer.abort());
    }
    return messages;
  } finally {
    replied.promise.catch(() => undefined);
    channels.close();
  }
}

function requireAnswer(status: number | undefined, body: string, expected: string): number {
  if (status !== 200 || body !== expected)
    throw new Error(`status ${status}, body ${JSON.stringify(body.slice(0, 80))}, must be 200, ${expected}`);
  return 1;
}
