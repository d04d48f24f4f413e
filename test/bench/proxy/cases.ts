import { once } from 'node:events';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { exchanges } from './clients/exchanges.ts';
import { flows } from './clients/flows.ts';
import { grpcStreams } from './clients/grpc-streams.ts';
import { h2load } from './clients/h2load.ts';
import { handshakes, type HandshakeKind } from './clients/handshakes.ts';
import { http1Connections } from './clients/http1.ts';
import { http2Connections } from './clients/http2.ts';
import type { Requests } from './clients/requests.ts';
import { webSockets } from './clients/websocket.ts';
import { wrk } from './clients/wrk.ts';
import { paths } from './configurations.ts';
import type { Client, Protocol, Target } from './measurement.ts';
import { grpcMessage } from './messages.ts';

/** One line of the comparison. */
export interface Case {
  readonly title: string;
  readonly unit: 'request' | 'message' | 'handshake';
  /** Connections or streams of the client, for people. */
  readonly clients: string;
  readonly protocol: Protocol;
  /** Units per second that each contestant serves with ease. */
  readonly rate: number;
  /** Sends units as fast as possible. */
  readonly saturate: Client;
  /** Sends units at a rate. */
  readonly pace: Client;
  /** Programs of the clients. */
  readonly programs: readonly string[];
  /** Throws if a target does not answer as the backend does. */
  readonly verify?: (target: Target) => Promise<void>;
}

const rate = 2_000;
const connections = 64;
const http2 = { connections: 8, streams: 16 };
const http2Clients = `${http2.connections} connections of ${http2.streams} streams`;
const plain: Requests = { scheme: 'http', path: paths.small, connections };
const secure: Requests = { ...plain, scheme: 'https' };
const calls: Requests = { ...plain, path: paths.unary, body: grpcMessage.toString('latin1') };
const grpcFields = { 'content-type': 'application/grpc', te: 'trailers' };

export const cases: Readonly<Record<string, Case>> = {
  get: http1('HTTP/1.1 GET', plain, 'http'),
  post: http1('HTTP/1.1 POST of 10 KiB', { ...plain, body: 'x'.repeat(10_240) }, 'http'),
  large: http1('HTTP/1.1 response of 100 KiB', { ...plain, path: paths.large }, 'http'),
  tls: http1('HTTP/1.1 GET over TLS', secure, 'https'),
  h2: http2Requests('HTTP/2 GET over TLS', 'h2', { requests: secure, fields: {}, verify: requireHttp2Answer }),
  'grpc-unary': http2Requests('gRPC unary, messages of 1 KiB', 'grpc', {
    requests: calls,
    fields: grpcFields,
    verify: requireGrpcAnswer,
  }),
  'grpc-stream': messages('gRPC streams, messages of 1 KiB', 'grpc', {
    clients: http2Clients,
    client: exchanges(grpcStreams(http2.connections, http2.streams, paths.stream)),
  }),
  'handshake-full': tlsHandshakes('full'),
  'handshake-resumed': tlsHandshakes('resumed'),
  'handshake-x25519': tlsHandshakes('full', 'X25519'),
  websocket: messages('WebSocket messages of 1 KiB', 'webSocket', {
    clients: `${connections} connections`,
    client: exchanges(webSockets(connections, paths.webSocket)),
  }),
  tcp: http1('TCP forwarding of small requests', plain, 'tcp'),
  udp: messages('UDP forwarding, datagrams of 1 KiB', 'udp', {
    clients: `${connections} flows`,
    client: exchanges(flows(connections)),
  }),
};

function http1(title: string, requests: Requests, protocol: Protocol): Case {
  const clients = `${connections} connections`;
  const [saturate, pace] = [wrk(requests), exchanges(http1Connections(requests))];
  return { title, unit: 'request', clients, protocol, rate, programs: ['wrk'], saturate, pace };
}

interface Http2Parts {
  readonly requests: Requests;
  readonly fields: Readonly<Record<string, string>>;
  readonly verify: (target: Target) => Promise<void>;
}

function http2Requests(title: string, protocol: Protocol, { requests, fields, verify }: Http2Parts): Case {
  const all = { ...requests, connections: http2.connections };
  const options = { streams: http2.streams, fields };
  const [saturate, pace] = [h2load(all, options), exchanges(http2Connections(all, options))];
  const parts = { clients: http2Clients, rate, programs: ['h2load'], saturate, pace, verify };
  return { title, unit: 'request', protocol, ...parts };
}

interface MessageParts {
  readonly clients: string;
  readonly client: Client;
}

function messages(title: string, protocol: Protocol, { clients, client }: MessageParts): Case {
  return { title, unit: 'message', clients, protocol, rate, programs: [], saturate: client, pace: client };
}

/** Without `group`, client and server choose the key exchange. */
function tlsHandshakes(kind: HandshakeKind, group?: string): Case {
  const client = exchanges(handshakes(kind, { concurrency: 16, group }));
  return {
    title: `TLS 1.3 handshakes, ${kind}${kind === 'full' ? ', ECDSA P-256' : ''}${group === undefined ? '' : `, ${group}`}`,
    unit: 'handshake',
    clients: '16 connections at a time',
    protocol: 'https',
    // The client takes more processor time for a handshake than a server.
    rate: 200,
    programs: [],
    saturate: client,
    pace: client,
  };
}

/** h2load only looks at the status, and uses HTTP/1.1 if it is offered nothing else. */
async function requireHttp2Answer({ address: { host, port }, name }: Target): Promise<void> {
  const { status, body } = await call(`https://${host}:${port}`, { ':path': paths.small });
  if (status !== 200 || body !== 'ok') throw new Error(`${name} answers ${status} ${JSON.stringify(body)}`);
}

/** h2load only looks at the status, and a gRPC call can fail with status 200. */
async function requireGrpcAnswer({ address: { host, port }, name }: Target): Promise<void> {
  const fields = { ':method': 'POST', ':path': paths.unary, 'content-type': 'application/grpc', te: 'trailers' };
  const { status, body, trailers } = await call(`http://${host}:${port}`, fields, grpcMessage);
  if (status !== 200 || body.length !== grpcMessage.length || trailers['grpc-status'] !== '0')
    throw new Error(`${name} answers ${status}, ${body.length} bytes, trailers ${JSON.stringify(trailers)}`);
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly trailers: Readonly<Record<string, unknown>>;
}

async function call(url: string, fields: Record<string, string>, body?: Buffer): Promise<Answer> {
  const session = connect(url, { rejectUnauthorized: false });
  try {
    const stream = session.request(fields);
    let trailers = {};
    stream.on('trailers', (received: Record<string, unknown>) => (trailers = received));
    const response = once(stream, 'response');
    if (body !== undefined) stream.end(body);
    const [content, [head]] = await Promise.all([text(stream), response as Promise<[{ ':status': number }]>]);
    return { status: head[':status'], body: content, trailers };
  } finally {
    session.destroy();
  }
}
