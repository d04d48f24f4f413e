import { ServerResponse, createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGently } from '../messages/connection.ts';
import type { Connection } from '../messages/connection.ts';
import { countOutcome } from '../counters.ts';
import type { DataPlane } from '../data-plane.ts';
import { Exchange } from '../handling/exchange.ts';
import { Http1Intake } from './http1-intake.ts';
import { Http1Stream } from './http1-stream.ts';
import { upgradeOf } from './http1-upgrade.ts';
import { readInTurns } from '../listen/read-in-turns.ts';
import { answerFor, rawAnswer } from '../messages/reasons.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { watchForReset } from '../sockets/reset-probe.ts';

/** The HTTP/1 server of a port. `accept` takes sockets, plain or decrypted. */
export interface Http1Server {
  accept(socket: Socket, connection: Connection): void;
  /** Closes connections between two requests. */
  closeIdle(): void;
  close(): void;
}

/** A connection and its state. */
interface Carrier {
  readonly connection: Connection;
  readonly intake: Http1Intake;
  /** The request whose response is not done. */
  current: Exchange | undefined;
  /** Whether requests that the parser may still find are ignored. */
  isGivenUp: boolean;
}

interface Http1Request {
  readonly client: Http1Stream;
  readonly exchange: Exchange;
  readonly carrier: Carrier;
}

/** A response with a reference to its request, which avoids listeners per response. */
class ProxyResponse extends ServerResponse {
  request: Http1Request | undefined;
}

/** Creates a server that does not listen and handles each request as an Exchange. */
export function createHttp1Server(plane: DataPlane): Http1Server {
  const { limits } = plane;
  const connections = new WeakMap<Duplex, Carrier>();
  const reachedIdle = (): void => plane.quotas.reached('idle');

  const begin = (request: IncomingMessage, response: ProxyResponse): Http1Request | undefined => {
    const carrier = connections.get(request.socket);
    if (carrier === undefined || carrier.isGivenUp) return undefined;
    if (carrier.current !== undefined) {
      // The intake passes only one request at a time. If the parser finds a second one, the owner of the bytes is ambiguous.
      endAtOnce(carrier, request.socket);
      return undefined;
    }
    const client = new Http1Stream(request, response, carrier.connection, plane);
    const exchange = new Exchange(plane, carrier.connection, client);
    carrier.current = exchange;
    carrier.connection.busy();
    carrier.intake.requestBegun(request);
    response.request = { client, exchange, carrier };
    response.on('drain', onDrain).on('close', onClose);
    return response.request;
  };

  const refuse = (socket: Duplex, reason: AnswerReason): void => {
    const carrier = connections.get(socket);
    if (carrier === undefined || carrier.isGivenUp) return;
    const { current } = carrier;
    if (current?.client.isComplete === true) {
      // An earlier request has no response yet, and a response to this one would be taken for it.
      endAtOnce(carrier, socket);
      return;
    }
    carrier.isGivenUp = true;
    carrier.intake.stop();
    if (current === undefined) {
      recordRefusal(plane, carrier.connection, reason);
      closeGently(socket, rawAnswer(reason));
    } else {
      // The invalid bytes are the body of the current request.
      current.giveUp(reason);
    }
  };

  const start = (begun: Http1Request | undefined): void => {
    if (begun === undefined) return;
    begun.exchange.start();
    begun.carrier.intake.expectBody(begun.client.announcedLength);
  };

  const server = createServer({
    ServerResponse: ProxyResponse,
    insecureHTTPParser: false,
    // Checked by request-head.ts, which responds and logs uniformly.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeout,
    keepAliveTimeout: limits.idleTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    // Long uploads are legitimate; stalled bodies have a limit of their own.
    requestTimeout: 0,
    // Saves a tenth of the CPU time of requests without a body, in runtimes that support it (Node from 24.12).
    optimizeEmptyRequests: true,
    // Runtimes without this option (Node before 24.9) stop reading HTTP after any upgrade request.
    shouldUpgradeCallback: (request) => upgradeOf(request) !== undefined,
  });
  // Node silently drops fields beyond this count. One more than the limit lets request-head.ts detect and reject them.
  server.maxHeadersCount = limits.headerCount + 1;
  server.on('request', (request, response) => start(begin(request, response)));
  server.on('checkContinue', (request, response) => {
    const begun = begin(request, response);
    begun?.client.awaitContinue();
    start(begun);
  });
  server.on('checkExpectation', (request, response) => begin(request, response)?.exchange.answer('expectation-failed'));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, rest: Buffer) => {
    const following = Buffer.concat([rest, connections.get(socket)?.intake.release() ?? rest]);
    if (following.length > 0) socket.unshift(following);
    const unwatch = destroyAtEnd(socket);
    const begun = begin(request, responseOn(request, socket).prependListener('finish', unwatch));
    begun?.client.offerUpgrade(upgradeOf(request), unwatch);
    begun?.exchange.start();
  });
  server.on('connect', (_request, socket) => refuse(socket, 'connect-unsupported'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (isClientGone(error) || !socket.writable) socket.destroy();
    else refuse(socket, refusalReasons[error.code ?? ''] ?? 'bad-request');
  });
  // Node starts checking header and idle timeouts when the server listens.
  server.emit('listening');

  return {
    accept: (socket, connection) => {
      server.emit('connection', socket);
      // Node sets this timer only between two requests, and closes the connection.
      socket.once('timeout', reachedIdle);
      watchForReset(socket);
      const intake = new Http1Intake(socket, plane);
      readInTurns(socket);
      connections.set(socket, { connection, intake, current: undefined, isGivenUp: false });
    },
    closeIdle: () => server.closeIdleConnections(),
    close: () => server.close(),
  };
}

/** Creates a response on a connection that Node has released, and that ends with it. */
function responseOn(request: IncomingMessage, socket: Socket): ProxyResponse {
  const response = new ProxyResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.on('error', () => undefined);
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => closeGently(socket));
  return response;
}

/** Closes an unread socket when its peer ends it. Returns a function that stops that. Unread bytes before the end hide it. */
function destroyAtEnd(socket: Socket): () => void {
  const look = (): void => {
    if (socket.readableLength === 0) socket.read(0);
  };
  const destroy = (): void => void socket.destroy();
  socket.on('readable', look).on('end', destroy);
  return () => socket.off('readable', look).off('end', destroy);
}

function onDrain(this: ProxyResponse): void {
  this.request?.exchange.drained();
}

function onClose(this: ProxyResponse): void {
  if (this.request === undefined) return;
  const { exchange, carrier } = this.request;
  const { socket, complete } = this.req;
  carrier.current = undefined;
  exchange.closed();
  carrier.connection.idle();
  if (!complete) this.req.resume();
  // Its head may have been sent before the drain, without `Connection: close`.
  if (carrier.connection.isDraining() && carrier.intake.isEmpty) socket.destroySoon();
  carrier.intake.responseDone();
}

/** Ends a connection on which no response is possible any more. */
function endAtOnce(carrier: Carrier, socket: Duplex): void {
  carrier.isGivenUp = true;
  carrier.intake.stop();
  socket.destroy();
}

/** Whether the client aborted, by a reset or by ending in the middle of a request. */
function isClientGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE';
}

/** Reasons for the error codes of Node's parser and timers; all others are a bad request. */
const refusalReasons: Readonly<Record<string, AnswerReason>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'header-timeout',
  HPE_INVALID_TRANSFER_ENCODING: 'bad-framing',
  HPE_INVALID_CONTENT_LENGTH: 'bad-framing',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'bad-framing',
};

/** Counts and logs an invalid request. */
function recordRefusal({ counters, accessLog }: DataPlane, connection: Connection, reason: AnswerReason): void {
  const { status, body } = answerFor(reason);
  counters.requests += 1;
  counters.responseBytes += body.length;
  countOutcome(counters, status, reason, 0);
  accessLog?.({
    time: new Date().toISOString(),
    client: connection.peer.address,
    method: '',
    status,
    bytes: body.length,
    durationMs: 0,
    reason,
  });
}
