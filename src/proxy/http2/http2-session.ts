import type { Socket } from 'node:net';
import type { Limit } from '../counters.ts';
import type { DataPlane } from '../data-plane.ts';
import { Exchange } from '../handling/exchange.ts';
import { Buffered, standalone } from '../limits/buffered.ts';
import type { Input, InputTurns } from '../listen/input-turns.ts';
import { closeGently } from '../messages/connection.ts';
import type { Connection } from '../messages/connection.ts';
import { watchForReset } from '../sockets/reset-probe.ts';
import { afterClosing } from '../sockets/after-closing.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { ReleasingMap } from '../limits/releasing-map.ts';
import { ClosedStreams } from '../frames/closed-streams.ts';
import type { StreamEnd } from '../frames/closed-streams.ts';
import { FrameLimits } from '../frames/frame-limits.ts';
import { FrameReader } from '../frames/frame-reader.ts';
import { FrameReceiver } from '../frames/frame-receiver.ts';
import type { FrameTarget } from '../frames/frame-receiver.ts';
import type { WholeBlock } from '../frames/header-block.ts';
import type { HeaderSection, SectionReader } from '../frames/header-sections.ts';
import type { Http2Stream, StreamCarrier } from './http2-stream.ts';
import { ConnectionError, errorCodes, frameTypes } from '../frames/protocol.ts';
import { RequestFactory } from './request-factory.ts';
import { Sender } from '../frames/sender.ts';
import { ownSettings } from '../frames/settings.ts';

const startingPlace = Symbol('starting');

/** The timeouts of connections. `now` counts the intervals at which they are checked. */
export interface Ticks {
  now: number;
  /** The numbers of intervals that an idle connection and a waiting response may take. */
  readonly idle: number;
  readonly flush: number;
}

/** The shared state of the connections of a port. */
export interface Shared {
  readonly plane: DataPlane;
  readonly ticks: Ticks;
  readonly turns: InputTurns;
}

/** Milliseconds in which requests of one connection may begin in one turn. A few hundred of them fit into a piece of input. */
const longestStart = 5;

/** Milliseconds for which a client may go on sending a body after the response, and may not close a connection. */
const bodyLingering = 1_000;
const lingering = 2_000;

/** An HTTP/2 connection of a client (RFC 9113). Its bytes are read when it is the client's turn. */
export class Http2Session implements Input, FrameTarget<Http2Stream>, StreamCarrier {
  /** The client whose turn is used. */
  readonly client: string;
  readonly sender: Sender;
  readonly frameLimits: FrameLimits;
  readonly streams = new ReleasingMap<number, Http2Stream>();
  readonly closedStreams = new ClosedStreams();
  lastStream = 0;
  lastServed = Infinity;
  private readonly socket: Socket;
  private readonly connection: Connection;
  private readonly plane: DataPlane;
  private readonly ticks: Ticks;
  private readonly turns: InputTurns;
  private readonly released: (session: Http2Session) => void;
  private readonly reader: FrameReader;
  private readonly receiver: FrameReceiver<Http2Stream>;
  private readonly requests: RequestFactory;
  /** Received bytes that wait for their turn. */
  private held: Buffer | undefined;
  /** Accounts for them, and for incomplete frames and header sections. */
  private readonly waiting: Buffered;
  /** Requests that begin at the end of the current input: their bodies may follow at once, or a reset. */
  private readonly starting = new LinkedSet<Http2Stream>(startingPlace);
  private hasEnded = false;
  /** Whether further bytes are discarded. */
  private isStopped = false;
  private isPaused = false;
  /** The tick at which the last request ended, and the time. */
  private since: number;
  private lastEnd = -Infinity;
  private lingerTimer: NodeJS.Timeout | undefined;

  /** `released` is called when the connection closes. */
  constructor(socket: Socket, connection: Connection, shared: Shared, released: (session: Http2Session) => void) {
    const { plane, ticks, turns } = shared;
    this.socket = socket;
    this.connection = connection;
    this.plane = plane;
    this.ticks = ticks;
    this.turns = turns;
    this.released = released;
    this.client = connection.peer.address;
    this.since = ticks.now;
    this.waiting = new Buffered(plane.quotas.buffered, this.client);
    this.frameLimits = new FrameLimits((limit) => this.calm(limit));
    this.sender = new Sender(socket, {
      wrote: (bytes) => this.frameLimits.wrote(bytes),
      failed: (error) => this.broke(error),
      unread: () => this.calm('http2-pings'),
      guard: (outgoing, action) => this.guardStream(outgoing.id, action),
    });
    this.requests = new RequestFactory(plane.limits, this);
    this.receiver = new FrameReceiver(this, plane.limits);
    this.reader = new FrameReader(this.receiver);
    this.sender.frame(frameTypes.settings, 0, 0, ownSettings(plane.limits));
    this.receiver.start();
    watchForReset(socket);
    socket
      .on('data', this.arrive)
      .on('end', this.ended)
      .on('drain', () => this.sender.drained())
      .on('error', ignore)
      .on('close', this.closed);
  }

  /** Begins requests that wait, and handles held bytes up to `budget` of work; returns the work done. */
  feed(budget: number): number {
    if (!this.isHolding) return 0;
    let work = 0;
    this.guard(() => {
      const began = this.plane.now();
      this.begin(began);
      if (this.starting.size > 0 || this.held === undefined) return;
      this.read(this.held, budget);
      work = this.reader.work;
      this.begin(began);
    });
    this.settle();
    return work;
  }

  get isHolding(): boolean {
    return (this.held !== undefined || this.starting.size > 0) && !this.isStopped;
  }

  /** Checks the timeouts. */
  check(): void {
    this.guard(() => this.checkTime());
  }

  /** Ends the connection after the requests that the client has begun to send. Called again after the last of them. */
  drain(): void {
    // GOAWAY would count a request with an incomplete head as served.
    if (this.receiver.isInHeaderSection || this.reader.openType === frameTypes.headers) return;
    this.close();
  }

  checkOpening(id: number): void {
    if (id % 2 === 0) throw new ConnectionError(errorCodes.protocolError, 'invalid stream identifier');
    if (id > this.lastStream || id > this.lastServed) return;
    const end = this.closedStreams.endOf(id);
    if (end === undefined)
      throw new ConnectionError(errorCodes.protocolError, 'a stream identifier that is lower than an earlier one');
    if (end === 'ended') throw new ConnectionError(errorCodes.streamClosed, 'HEADERS on a closed stream');
  }

  onHead(block: WholeBlock, sections: SectionReader): void {
    const section = sections.readRequest(block.bytes);
    const { stream: id, endsStream } = block;
    this.lastStream = id;
    if (id > this.lastServed) return;
    const isMalformed = section.problem === 'malformed' || block.dependsOnItself;
    if (isMalformed || (endsStream && (section.contentLength ?? 0) > 0)) this.streamError(id, errorCodes.protocolError);
    else if (section.problem === 'too-large') this.streamError(id, errorCodes.enhanceYourCalm);
    else if (this.streams.size >= this.plane.limits.streamsPerConnection)
      this.streamError(id, errorCodes.refusedStream);
    else this.serve(block, section);
    if (this.connection.isDraining()) this.drain();
  }

  onData(stream: Http2Stream, data: Buffer): void {
    if (!stream.expects(data.length)) {
      this.streamError(stream.id, errorCodes.protocolError);
      return;
    }
    if (!stream.mayReceive(data.length)) {
      this.streamError(stream.id, errorCodes.enhanceYourCalm);
      return;
    }
    if (stream.isDiscarding) return;
    // Its exchange does not account for it yet.
    stream.receive(this.starting.has(stream) ? standalone(data) : data);
  }

  onLastData(stream: Http2Stream, data: Buffer): void {
    if (!this.starting.has(stream) || !stream.takeWhole(data)) this.onData(stream, data);
  }

  onEnd(stream: Http2Stream, trailers: readonly string[]): void {
    if (!stream.isWhole) {
      this.streamError(stream.id, errorCodes.protocolError);
      return;
    }
    stream.exchange?.received(trailers);
    stream.receiveEnd(trailers);
    if (stream.isAnswered) this.endStream(stream, 'ended');
  }

  onReset(stream: Http2Stream, code: number): void {
    stream.abort(code);
    this.endStream(stream, 'peer');
  }

  onGoaway(code: number): void {
    // Without an error, the client still waits for its responses.
    if (code !== errorCodes.noError) this.abandon();
  }

  onSettings(): void {
    // The others do not matter to a server.
  }

  streamError(id: number, code: number): void {
    this.frameLimits.countReset();
    if (this.isStopped) return;
    const stream = this.streams.get(id);
    if (stream === undefined) this.resetClosed(id, code);
    else this.resetStream(stream, code);
  }

  /** The exchange ends in a later tick: it may be the caller. */
  resetStream(stream: Http2Stream, code: number): void {
    if (this.streams.get(stream.id) !== stream || stream.outgoing.isOver) return;
    this.resetClosed(stream.id, code);
    stream.abort(code);
    this.starting.delete(stream);
    process.nextTick(() => this.guardStream(stream.id, () => this.endStream(stream, 'side')));
  }

  responseSent(stream: Http2Stream): void {
    if (stream.isComplete) {
      this.endStream(stream, 'ended');
      return;
    }
    stream.exchange?.closed();
    stream.exchange = undefined;
    stream.discard();
    // The rest of the request is useless (RFC 9113 section 8.1), but the client may be about to end it.
    setTimeout(() => this.resetStream(stream, errorCodes.noError), bodyLingering).unref();
  }

  private readonly arrive = (bytes: Buffer): void => {
    if (this.isStopped) return;
    this.held = this.held === undefined ? bytes : Buffer.concat([this.held, bytes]);
    this.turns.take(this);
    if (this.isHolding) this.guard(() => this.account());
    if (!this.isHolding || this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
    // A connection whose frames wait may not be closed to make room for another one.
    this.connection.busy();
  };

  private readonly ended = (): void => {
    this.hasEnded = true;
    if (!this.isHolding) this.guard(() => this.inputEnded());
  };

  /** Decides on the bytes that wait, and whether the socket is read. */
  private settle(): void {
    this.account();
    if (this.isHolding) return;
    this.resume();
    if (this.hasEnded) this.guard(() => this.inputEnded());
  }

  /** Accounts for the bytes that wait. Without room for them, the connection ends. */
  private account(): void {
    if (this.held !== undefined) this.held = standalone(this.held);
    const waiting = (this.held?.length ?? 0) + this.reader.heldBytes + this.receiver.heldBytes;
    if (!this.waiting.update(waiting)) this.fail(errorCodes.enhanceYourCalm);
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.socket.resume();
    if (this.streams.size === 0) this.connection.idle();
  }

  /** A client that has closed its side can neither update windows nor cancel, so like most servers, treat it as gone. */
  private inputEnded(): void {
    if (this.streams.size > 0) {
      this.socket.destroy();
      return;
    }
    this.close();
    this.socket.destroySoon();
  }

  private serve({ stream: id, endsStream }: WholeBlock, section: HeaderSection): void {
    const stream = this.requests.create({ id, endsStream, window: this.receiver.initialWindow }, section);
    this.streams.set(id, stream);
    if (this.streams.size === 1) this.connection.busy();
    stream.exchange = new Exchange(this.plane, this.connection, stream);
    if (!stream.exchange.isAdmitted) stream.discard();
    stream.isComplete = endsStream;
    if (endsStream && stream.upgrade !== undefined) stream.receiveEnd([]);
    this.starting.add(stream);
  }

  private read(held: Buffer, budget: number): void {
    const length = this.reader.read(held, budget);
    this.held = length < held.length && !this.isStopped ? held.subarray(length) : undefined;
  }

  /** Begins the exchanges of the requests that have arrived, as many as the time since `began` permits. */
  private begin(began: number): void {
    for (let stream = this.starting.first; stream !== undefined; stream = this.starting.first) {
      this.starting.delete(stream);
      stream.exchange?.start();
      if (this.starting.size > 0 && this.plane.now() - began >= longestStart) return;
    }
  }

  /** The stream is closed in both directions. */
  private endStream(stream: Http2Stream, end: StreamEnd): void {
    if (this.streams.get(stream.id) !== stream) return;
    this.streams.delete(stream.id);
    this.starting.delete(stream);
    this.closedStreams.add(stream.id, end);
    const { exchange } = stream;
    stream.exchange = undefined;
    exchange?.closed();
    if (this.streams.size > 0) return;
    this.connection.idle();
    this.since = this.ticks.now;
    this.lastEnd = this.plane.now();
    if (this.lastServed !== Infinity || this.connection.isDraining()) this.drain();
  }

  private resetClosed(id: number, code: number): void {
    this.closedStreams.add(id, 'side');
    this.sender.reset(id, code);
  }

  private checkTime(): void {
    const { now, idle, flush } = this.ticks;
    this.sender.forgetUnused();
    for (const stream of this.streams.values()) {
      if (!stream.isFlushing) continue;
      const { progress } = stream.outgoing;
      if (stream.watched.progress !== progress) stream.watched = { progress, since: now };
      else if (now - stream.watched.since > flush) {
        this.plane.quotas.reached('client-stalled');
        stream.breakOff();
      }
    }
    if (this.streams.size > 0 || now === this.since) return;
    this.receiver.forget();
    this.requests.forget();
    if (now - this.since > idle) this.close();
  }

  /** GOAWAY contains the last served request; the client may send later ones elsewhere (RFC 9113 section 6.8). */
  private close(): void {
    if (this.lastServed === Infinity) {
      this.lastServed = this.lastStream;
      this.sender.goaway(this.lastStream, errorCodes.noError);
    }
    if (this.streams.size === 0 && !this.isStopped) this.linger();
  }

  /**
   * Waits for the client to close its side, which proves that it has read everything. Closing earlier would cause a
   * reset if the client still sends something, for example a window update, and data in transit would be lost. A client
   * that does not read gets the same time as in the middle of a response.
   */
  private linger(): void {
    const unread = this.lastEnd + this.plane.limits.stallTimeout - this.plane.now();
    this.stop();
    this.socket.end();
    this.lingerTimer ??= setTimeout(() => this.socket.destroy(), Math.max(lingering, unread)).unref();
  }

  /** Discards further bytes, after writing what waits. */
  private stop(): void {
    this.isStopped = true;
    this.reader.stop();
    this.held = undefined;
    this.waiting.close();
    this.sender.flush();
    this.sender.close();
    this.resume();
  }

  /** Ends the connection of a client that sends too many frames of a kind (RFC 9113 section 10.5). */
  private calm(limit: Limit): void {
    if (this.isStopped) return;
    this.plane.quotas.reached(limit);
    this.fail(errorCodes.enhanceYourCalm);
  }

  /** Ends the connection because of an error (RFC 9113 section 5.4.1). */
  private fail(code: number): void {
    if (this.isStopped) return;
    this.sender.goaway(this.lastStream, code);
    this.abandon();
  }

  /** Ends the connection and all its streams. Nothing more of them is sent. */
  private abandon(): void {
    if (this.isStopped) return;
    this.starting.clear();
    for (const { outgoing } of this.streams.values()) this.sender.drop(outgoing);
    this.stop();
    this.abortStreams();
    // Closing immediately would reset the connection if the client still sends something, and GOAWAY would be lost.
    closeGently(this.socket);
  }

  private readonly closed = (): void => {
    clearTimeout(this.lingerTimer);
    this.isStopped = true;
    this.reader.stop();
    this.held = undefined;
    this.waiting.close();
    this.sender.close();
    this.released(this);
    this.abortStreams();
  };

  private abortStreams(): void {
    for (const stream of this.streams.values()) {
      afterClosing.add(() => {
        this.guardStream(stream.id, () => {
          stream.abort(errorCodes.cancel);
          this.endStream(stream, 'peer');
        });
      });
    }
  }

  /** Runs an action of one stream: an unexpected error ends only this stream. */
  private guardStream(id: number, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.plane.fault(error);
      this.guard(() => this.streamError(id, errorCodes.internalError));
    }
  }

  /** Runs an action of an event, which has no caller to catch its errors: an unexpected error ends this connection only. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof ConnectionError) {
        this.fail(error.code);
        return;
      }
      this.broke(error);
    }
  }

  /** Ends the connection after an unexpected error. */
  private broke(error: unknown): void {
    this.plane.fault(error);
    this.socket.destroy();
  }
}

function ignore(): void {
  // The close event follows an error.
}
