import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import type {
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  SecureServerOptions,
  ServerHttp2Session,
  ServerHttp2Stream,
  ServerOptions,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createRawServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on a loopback port of its own. */
export interface Backend {
  readonly port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Those that stand. */
  openConnections(): number;
  close(): Promise<void>;
}

/** An address of loopback. Port 0: any free one. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** What an echo backend saw of a request; it answers with this as JSON. */
export interface Echo {
  readonly backend: string;
  readonly method: string;
  readonly target: string;
  /** Header fields as they came, name and value in turn. */
  readonly fields: readonly string[];
  readonly body: string;
}

const running = new Set<Backend>();

/** Ends every backend that was started; for `afterEach`. */
export async function closeBackends(): Promise<void> {
  await Promise.all([...running].map((backend) => backend.close()));
}

/** An HTTP backend that does what the listener says. */
export function startBackend(listener: RequestListener, at?: Place): Promise<Backend> {
  return listen(createServer({ keepAliveTimeout: 60_000 }, listener), at);
}

/** An HTTP backend that answers each request with an Echo. */
export function startEcho(name = 'echo', at?: Place): Promise<Backend> {
  return startBackend((request, response) => echo(name, request, response), at);
}

/** A backend that works on bare connections, for what no HTTP server would send. */
export function startRawBackend(onConnection: (socket: Socket) => void): Promise<Backend> {
  return listen(createRawServer({ allowHalfOpen: true }, onConnection));
}

/** A backend that speaks nothing but HTTP/2 without TLS. */
export async function startHttp2Backend(listener: Http2Listener, options: ServerOptions = {}): Promise<Http2Backend> {
  const sessions: ServerHttp2Session[] = [];
  const server = createHttp2Server(options);
  // A test that breaks a connection means it.
  server.on('sessionError', () => undefined).on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) =>
    listener(
      stream.on('error', () => undefined),
      headers,
    ),
  );
  return { ...(await listen(server)), sessions };
}

export interface ServingPair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

type NegotiatingListener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

const answerVersion: NegotiatingListener = (request, response) => {
  response.end(request.httpVersion);
};

/** A backend over TLS that takes HTTP/2 and HTTP/1.1; answers with the version it speaks, unless told otherwise. */
export function startNegotiatingBackend(
  options: SecureServerOptions,
  listener: NegotiatingListener = answerVersion,
): Promise<Backend> {
  return listen(createSecureServer({ ...options, allowHTTP1: true }, listener));
}

/** The same for HTTP/1.1 alone. */
export function startSecureHttp1Backend(pair: ServingPair): Promise<Backend> {
  return listen(
    createHttpsServer({ ...pair, ALPNProtocols: ['http/1.1'], keepAliveTimeout: 60_000 }, (request, response) =>
      response.end(request.httpVersion),
    ),
  );
}

export type Http2Listener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

export interface Http2Backend extends Backend {
  readonly sessions: readonly ServerHttp2Session[];
}

/** A raw backend that answers the first bytes of each connection with these. */
export function startCanned(answer: string): Promise<Backend> {
  return startRawBackend((socket) => socket.once('data', () => socket.end(answer, 'latin1')));
}

/** A port on which nothing listens. */
export async function refusingPort(): Promise<number> {
  const backend = await startEcho();
  await backend.close();
  return backend.port;
}

function echo(backend: string, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const seen: Echo = {
      backend,
      method: request.method ?? '',
      target: request.url ?? '',
      fields: request.rawHeaders,
      body: Buffer.concat(chunks).toString(),
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(seen));
  });
}

async function listen(server: Server, { host, port }: Place = { host: '127.0.0.1', port: 0 }): Promise<Backend> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve);
  });
  const backend: Backend = {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    openConnections: () => sockets.size,
    close: () => {
      running.delete(backend);
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  running.add(backend);
  return backend;
}
