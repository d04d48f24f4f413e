import { constants, performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, ServerOptions } from 'node:http2';
import type { Socket } from 'node:net';
import type { Connection } from '../messages/connection.ts';
import type { Limit } from '../counters.ts';
import type { DataPlane } from '../data-plane.ts';
import { Exchange } from '../handling/exchange.ts';
import { Http2Intake } from './http2-intake.ts';
import { destroyOnSilentReset } from '../sockets/http2-reset.ts';
import { Http2Stream } from './http2-stream.ts';
import type { InputTurns } from '../listen/input-turns.ts';
import type { ProxyLimits } from '../limits/limits.ts';

/** The HTTP/2 server of a port. `accept` takes sockets, plain or decrypted. */
export interface Http2Server {
  accept(socket: Socket, connection: Connection): void;
  /** Drains every connection: no new requests, current ones are completed. */
  drain(): void;
}

/** Creates a server that does not listen and handles each stream as an Exchange. */
export function createHttp2Server(plane: DataPlane, turns: InputTurns): Http2Server {
  const sessions = new Set<Session>();
  const options = sessionOptions(plane.limits);
  return {
    accept: (socket, connection) => {
      const session = new Session(plane, connection, socket, { turns, options });
      sessions.add(session);
      socket.once('close', () => sessions.delete(session));
    },
    drain: () => {
      for (const session of sessions) session.drain();
    },
  };
}

/**
 * Besides the frames that Http2Intake counts, Node and nghttp2 limit the CONTINUATION frames of a header section, the
 * header compression table, unanswered pings and settings, and invalid frames. A connection that exceeds these limits
 * is closed.
 */
function sessionOptions(limits: ProxyLimits): ServerOptions {
  return {
    // Includes pseudo-header fields, and one more than the limit, so that request-head.ts can detect and reject it.
    maxHeaderListPairs: limits.headerCount + 5,
    // Http2Intake counts them.
    streamResetBurst: 100_000,
    streamResetRate: 100_000,
    // Node adds empty DATA frames, which Http2Intake counts, to malformed ones, which nghttp2 counts.
    maxSessionInvalidFrames: 100_000,
    maxSessionRejectedStreams: limits.streamsPerConnection,
    settings: {
      enableConnectProtocol: true,
      maxConcurrentStreams: limits.streamsPerConnection,
      maxHeaderListSize: limits.headerBytes,
      initialWindowSize: limits.streamWindow,
    },
  };
}

const lingering = 2_000;

/** The shared state of a port's connections. */
interface Shared {
  readonly turns: InputTurns;
  readonly options: ServerOptions;
}

class Session {
  private readonly plane: DataPlane;
  private readonly connection: Connection;
  private readonly socket: Socket;
  private readonly intake: Http2Intake;
  private readonly session: ServerHttp2Session;
  private readonly idleTimer: NodeJS.Timeout;
  private streams = 0;
  /** Time when the last stream ended. */
  private lastEnd = -Infinity;
  private lingerTimer: NodeJS.Timeout | undefined;

  constructor(plane: DataPlane, connection: Connection, socket: Socket, { turns, options }: Shared) {
    this.plane = plane;
    this.connection = connection;
    this.socket = socket;
    this.intake = new Http2Intake(socket, connection.peer.address, turns, {
      exceeded: (limit) => this.calm(limit),
      ended: () => this.inputEnded(),
    });
    const session = performServerHandshake(this.intake, options);
    this.session = session;
    this.idleTimer = setTimeout(() => this.closeIfIdle(), plane.limits.idleTimeout).unref();
    // Node reads a connection's data immediately, so a larger window speeds up uploads without holding more.
    session.setLocalWindowSize(4 * plane.limits.streamWindow);
    session.on('stream', (stream, headers, _flags, rawHeaders) => this.serve(stream, headers, rawHeaders));
    // The connection has already ended because of the client's error.
    session.on('error', () => undefined);
    session.on('close', () => clearTimeout(this.idleTimer));
    socket.once('close', () => clearTimeout(this.lingerTimer));
  }

  /** Ends the connection of a client that sends too many frames of a kind (RFC 9113 section 10.5). */
  calm(limit: Limit): void {
    this.plane.quotas.reached(limit);
    try {
      this.session.destroy(new Error(limit), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    } catch (error) {
      // There is no caller to catch it.
      this.plane.fault(error);
      this.socket.destroy();
    }
  }

  /** A client that has closed its side can neither update windows nor cancel, so like most servers, treat it as gone. */
  inputEnded(): void {
    if (this.streams > 0) {
      this.socket.destroy();
      return;
    }
    this.close();
    // Inside a frame, Node would wait for the rest of it.
    this.socket.destroySoon();
  }

  /** Ends the connection after the requests that the client has begun to send. Called again after the last of them. */
  drain(): void {
    // GOAWAY would count a request with an incomplete head as served, but Node would reject it when its head is complete.
    if (!this.session.closed && this.intake.isInHeaderSection) return;
    this.close();
  }

  /** GOAWAY contains the last served request; the client may send later ones elsewhere (RFC 9113 section 6.8). */
  private close(): void {
    if (this.session.destroyed) return;
    this.session.close();
    if (this.streams === 0) this.linger();
  }

  private serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    // The close event follows a reset.
    stream.on('error', () => undefined);
    // The stream was reset at once and costs nothing.
    if (stream.destroyed) return;
    destroyOnSilentReset(stream);
    const { plane, connection } = this;
    this.streams += 1;
    if (this.streams === 1) connection.busy();
    const client = new Http2Stream(stream, headers, rawHeaders, plane.limits);
    const exchange = new Exchange(plane, connection, client);
    stream.on('drain', () => exchange.drained());
    stream.on('close', () => {
      exchange.closed();
      this.ended();
    });
    if (headers[':method'] === 'CONNECT' && client.upgrade === undefined) exchange.answer('connect-unsupported');
    else if (expectsMore(headers.expect)) exchange.answer('expectation-failed');
    else exchange.start();
    if (connection.isDraining()) this.drain();
  }

  private ended(): void {
    this.streams -= 1;
    if (this.streams > 0) return;
    this.connection.idle();
    this.lastEnd = this.plane.now();
    this.idleTimer.refresh();
    if (this.session.closed || this.connection.isDraining()) this.drain();
  }

  private closeIfIdle(): void {
    if (this.streams === 0) this.close();
  }

  /**
   * Node waits for the client to close its side, which proves that it has read everything. Closing earlier would cause
   * a reset if the client still sends something, for example a window update, and data in transit would be lost. A
   * client that does not read gets the same time as in the middle of a response.
   */
  private linger(): void {
    const unread = this.lastEnd + this.plane.limits.stallTimeout - this.plane.now();
    this.lingerTimer ??= setTimeout(() => this.socket.destroy(), Math.max(lingering, unread)).unref();
  }
}

function expectsMore(expect: string | undefined): boolean {
  return expect !== undefined && expect.toLowerCase() !== '100-continue';
}
