import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGently } from './connection.ts';
import type { Connection } from './connection.ts';
import { countOutcome } from './counters.ts';
import type { DataPlane } from './data-plane.ts';
import { Exchange, ProxyResponse } from './exchange.ts';
import { answerFor, rawAnswer } from './reasons.ts';
import type { AnswerReason } from './reasons.ts';

/** The HTTP/1 server of a port: sockets come in by `accept`, plain or decrypted. */
export interface Http1Server {
  accept(socket: Socket, connection: Connection): void;
  /** Closes connections that wait between two requests. */
  closeIdle(): void;
  close(): void;
}

/** Creates a server that listens nowhere and handles each request as an Exchange. */
export function createHttp1Server(plane: DataPlane): Http1Server {
  const { limits } = plane;
  const connections = new WeakMap<Duplex, Connection>();
  // Connections given up on; the parser may still find requests in what comes in before they are gone.
  const givenUp = new WeakSet<Duplex>();

  const begin = (request: IncomingMessage, response: ProxyResponse): Exchange | undefined => {
    const connection = connections.get(request.socket);
    if (connection === undefined || givenUp.has(request.socket)) return undefined;
    const exchange = new Exchange(plane, connection, request, response);
    response.exchange = exchange;
    response.on('drain', onDrain).on('close', onClose);
    return exchange;
  };

  const refuse = (socket: Duplex, reason: AnswerReason): void => {
    if (givenUp.has(socket)) return;
    givenUp.add(socket);
    const connection = connections.get(socket);
    const [open, ...more] = connection?.openRequests ?? [];
    if (connection !== undefined && open === undefined) {
      recordRefusal(plane, connection, reason);
      closeGently(socket, rawAnswer(reason));
    } else if (open?.request.complete === false && more.length === 0) {
      // What cannot be read is the body of the request under way.
      open.giveUp(reason);
    } else {
      // Earlier requests are unanswered, and an answer to this one would be taken for theirs.
      socket.destroy();
    }
  };

  const server = createServer({
    ServerResponse: ProxyResponse,
    insecureHTTPParser: false,
    // Asked for by request-head.ts, which answers and logs like everything else.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeout,
    keepAliveTimeout: limits.idleTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    // Long uploads are legitimate; bodies that stall have a limit of their own.
    requestTimeout: 0,
  });
  // Fields beyond this count are silently dropped; one more than allowed is enough for request-head.ts to refuse.
  server.maxHeadersCount = limits.headerCount + 1;
  server.on('request', (request, response) => run(begin(request, response), startPlain));
  server.on('checkContinue', (request, response) => run(begin(request, response), startExpectingContinue));
  server.on('checkExpectation', (request, response) => run(begin(request, response), refuseExpectation));
  server.on('connect', (_request, socket) => refuse(socket, 'connect-unsupported'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (isClientGone(error) || !socket.writable) socket.destroy();
    else refuse(socket, refusalReasons[error.code ?? ''] ?? 'bad-request');
  });
  // Only a server that listens looks after its header and idle times; this starts it.
  server.emit('listening');

  return {
    accept: (socket, connection) => {
      connections.set(socket, connection);
      server.emit('connection', socket);
    },
    closeIdle: () => server.closeIdleConnections(),
    close: () => server.close(),
  };
}

function onDrain(this: ProxyResponse): void {
  this.exchange?.drained();
}

function onClose(this: ProxyResponse): void {
  this.exchange?.closed();
}

function startPlain(exchange: Exchange): void {
  exchange.start();
}

function startExpectingContinue(exchange: Exchange): void {
  exchange.startExpectingContinue();
}

function refuseExpectation(exchange: Exchange): void {
  exchange.answer('expectation-failed');
}

function run(exchange: Exchange | undefined, start: (exchange: Exchange) => void): void {
  if (exchange === undefined) return;
  try {
    start(exchange);
  } catch {
    exchange.answer('internal-error');
  }
}

/** Whether the client broke off, by a reset or by ending in the middle of a request. */
function isClientGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE';
}

/** What the codes of Node's parser and timers mean to the client; all others are a bad request. */
const refusalReasons: Readonly<Record<string, AnswerReason>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'header-timeout',
  HPE_INVALID_TRANSFER_ENCODING: 'bad-framing',
  HPE_INVALID_CONTENT_LENGTH: 'bad-framing',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'bad-framing',
};

/** Counts and logs a request that never became one. */
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
