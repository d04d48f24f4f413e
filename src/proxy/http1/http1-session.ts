import type { Socket } from 'node:net';
import type { Fields } from '../../core/text/fields.ts';
import type { DataPlane } from '../data-plane.ts';
import { Exchange } from '../handling/exchange.ts';
import { Buffered, standalone } from '../limits/buffered.ts';
import { dataBytesPerWork, headerBytesPerWork, requestWork } from '../listen/input-turns.ts';
import type { Input, InputTurns } from '../listen/input-turns.ts';
import { inTurns } from '../sockets/read-in-turns.ts';
import { readInto } from '../sockets/direct.ts';
import { afterClosing } from '../sockets/after-closing.ts';
import { Output } from '../sockets/output.ts';
import { owned, readBuffer, readPiece } from '../limits/read-buffer.ts';
import { closeGently, type Connection } from '../messages/connection.ts';
import { rawAnswerToAnyMethod } from '../messages/reasons.ts';
import type { AnswerReason } from '../messages/reasons.ts';
import { readHttp1Head, type FieldSection, type RawRequest } from '../messages/request-head.ts';
import { watchForReset } from '../sockets/reset-probe.ts';
import { Http1Stream } from './http1-stream.ts';
import type { Carrier } from './http1-stream.ts';
import { upgradeOf } from './http1-upgrade.ts';
import { recordRefusal } from './refusal.ts';
import { endsConnection, expectationOf, framingOf, isWithin } from './request-framing.ts';
import { RequestReader, type BodyFraming, type RequestEvents } from './request-reader.ts';

const nothing = Buffer.alloc(0);

/** The timeouts of a connection. `Ticks` counts the intervals at which they are checked. */
export interface Ticks {
  /** The number of the current interval. */
  now: number;
  /** The numbers of intervals that a head, an idle connection and a flushing response may take. */
  readonly head: number;
  readonly idle: number;
  readonly flush: number;
}

/**
 * An HTTP/1.1 connection of a client. Requests are read one at a time: the next one after the previous response. A
 * client that pipelines (RFC 9112 section 9.3.2) is served in order. Requests wait for the turn of their client. Its requests sent ahead take at most `aheadBytes`
 * plus one read: then the socket is not read until the response is done, so a disconnect of the client stays
 * undetected. Therefore bytes sent ahead are dropped after `aheadTimeout`, and the connection ends with the response.
 */
export class Http1Session implements Carrier, RequestEvents, Input {
  /** The client whose turn is used. */
  readonly client: string;
  readonly socket: Socket;
  readonly output: Output;
  readonly connection: Connection;
  readonly keepsFor: number;
  /** Whether the bytes sent ahead were dropped, or the rest of the request is not interpretable. */
  isEnding = false;
  private readonly plane: DataPlane;
  private readonly ticks: Ticks;
  private readonly turns: InputTurns;
  private readonly released: (session: Http1Session) => void;
  private readonly reader: RequestReader;
  private readonly receivedInTurn: (bytes: number) => void;
  /** The request whose response is not done. */
  private exchange: Exchange | undefined;
  private stream: Http1Stream | undefined;
  /** The fields of the last request, if the next one may have the same ones. */
  private previous: FieldSection | undefined;
  /** Bytes that were not interpreted yet. */
  private held: Buffer = nothing;
  /** Accounts for them, and for an incomplete head. */
  private readonly waiting: Buffered;
  /** The tick at which the current state began: a part of a head, an idle connection, or a flushing response. */
  private since: number;
  private watched: 'head' | 'idle' | 'flush' | 'nothing' = 'idle';
  private pauseTimer: NodeJS.Timeout | undefined;
  /** The protocol of an upgrade request whose exchange has not begun. */
  private pendingUpgrade: string | undefined;
  /** Whether the request asks for another protocol. */
  private isUpgrading = false;
  /** Whether the socket is not read because the reader of the body is slow. */
  private isBodyPaused = false;
  /** Whether the socket is not read because enough bytes wait for the turn of the client. */
  private isTurnPaused = false;
  /** Whether the client has closed its side while bytes of it wait for its turn. */
  private hasEnded = false;
  private isReading = false;
  /** Whether the exchange begins with the end of the body, which has arrived with the head. */
  private beginsWithContent = false;
  /** Whether bytes sent ahead were dropped, and more may come. */
  private hasDropped = false;
  private isStopped = false;

  /** `released` is called when the connection closes or no longer carries HTTP. */
  constructor(
    socket: Socket,
    connection: Connection,
    { plane, ticks, turns }: { readonly plane: DataPlane; readonly ticks: Ticks; readonly turns: InputTurns },
    released: (session: Http1Session) => void,
  ) {
    this.socket = socket;
    this.connection = connection;
    this.plane = plane;
    this.ticks = ticks;
    this.turns = turns;
    this.client = connection.peer.address;
    this.released = released;
    this.since = ticks.now;
    this.keepsFor = Math.floor(plane.limits.idleTimeout / 1_000);
    this.reader = new RequestReader(this, plane.limits.headerBytes);
    this.waiting = new Buffered(plane.quotas.buffered, connection.peer.address);
    watchForReset(socket);
    this.receivedInTurn = inTurns(socket);
    this.output = new Output(socket, this.drained);
    socket.on('end', this.ended).on('error', ignore).on('close', this.closed);
    // The stream of the socket notices only then that nobody else reads it any more.
    process.nextTick(this.begin);
  }

  /** Begins to read requests. */
  private readonly begin = (): void => {
    const { socket } = this;
    if (socket.destroyed) return;
    if (!readInto(socket, readBuffer, (length) => this.receive(readPiece(length)))) {
      socket.on('data', this.receive);
      return;
    }
    // The first bytes, from which the protocol was detected.
    const first: Buffer | null = socket.read();
    socket.resume();
    if (first !== null) this.receive(first);
  };

  /** Closes the connection if it is between two requests. */
  closeIdle(): void {
    if (this.exchange === undefined && !this.reader.isInRequest && this.held.length === 0) this.socket.destroy();
  }

  /** Checks the timeouts. */
  check(): void {
    this.guard(() => this.checkTime());
  }

  onHead(raw: RawRequest, available: number): BodyFraming {
    if (raw.method === 'CONNECT') {
      this.refuse('connect-unsupported');
      return 'unknown';
    }
    const head = readHttp1Head(raw, this.plane.limits, this.previous);
    this.previous = typeof head === 'string' || !this.reader.keepsFields ? undefined : head.section;
    const framing = framingOf(head);
    const expectation = typeof head === 'string' ? undefined : expectationOf(head);
    const stream = new Http1Stream(this, raw, expectation === 'other' ? 'expectation-failed' : head);
    stream.isComplete = framing === 0;
    if (framing === 'unknown') this.isEnding = true;
    if (expectation === '100-continue') stream.awaitContinue();
    this.stream = stream;
    this.exchange = new Exchange(this.plane, this.connection, stream);
    this.watched = 'nothing';
    this.connection.busy();
    const upgrade = typeof head === 'string' ? undefined : upgradeOf(head);
    if (upgrade !== undefined) {
      this.pendingUpgrade = upgrade;
      return 'unknown';
    }
    this.beginsWithContent = expectation === undefined && isWithin(framing, available);
    if (!this.beginsWithContent) this.exchange.start();
    return framing;
  }

  onData(data: Buffer): void {
    // After an early response, the rest of a body is discarded.
    if (this.stream === undefined) return;
    if (this.beginsWithContent) {
      this.stream.content = data;
      return;
    }
    if (this.stream.body.push(owned(data))) return;
    this.isBodyPaused = true;
    this.socket.pause();
  }

  onEnd(trailers: Fields): void {
    const { stream } = this;
    if (stream === undefined) {
      this.rest();
      return;
    }
    stream.receiveEnd(trailers);
    this.exchange?.received(trailers);
    if (this.beginsWithContent) {
      this.beginsWithContent = false;
      this.exchange?.start();
      stream.keepContent();
      return;
    }
    if (endsConnection(trailers)) this.isEnding = true;
    stream.body.push(null);
    // From now on the end of the connection must be noticed, regardless of the reader of the body.
    this.bodyWanted();
  }

  onMalformed(reason: AnswerReason): void {
    this.refuse(reason);
  }

  bodyWanted(): void {
    if (!this.isBodyPaused) return;
    this.isBodyPaused = false;
    this.resume();
  }

  responseSent(): void {
    // The reader must not go on to the next request within the call that passes on this one.
    if (this.isReading) process.nextTick(this.overGuarded);
    else this.overGuarded();
  }

  private readonly overGuarded = (): void => {
    this.guard(this.over);
  };

  private readonly receive = (bytes: Buffer): void => {
    this.receivedInTurn(bytes.length);
    if (this.isStopped) return;
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    if (!this.isWanted) this.guard(() => this.settle());
    else {
      this.turns.take(this);
      if (this.isHolding) this.guard(() => this.settle());
    }
  };

  /** Interprets held bytes up to `budget` of work, and at most one request; returns the work done. */
  feed(budget: number): number {
    try {
      const work = this.readOn(budget);
      this.settle();
      return work;
    } catch (error) {
      this.fault(error);
      return requestWork;
    }
  }

  /** Whether bytes wait for the turn of the client. */
  get isHolding(): boolean {
    return this.held.length > 0 && !this.isStopped && this.isWanted;
  }

  private readOn(budget: number): number {
    if (this.isReading) return 0;
    let work = 0;
    this.isReading = true;
    while (this.isHolding && work < budget) {
      const bytes = this.held;
      const { exchange } = this;
      const bytesPerWork = this.reader.isInBody ? dataBytesPerWork : headerBytesPerWork;
      this.held = nothing;
      this.held = this.reader.read(bytes);
      work += 1 + (bytes.length - this.held.length) / bytesPerWork;
      if (this.exchange !== exchange) work += requestWork;
      if (this.pendingUpgrade !== undefined) this.beginUpgrade(this.pendingUpgrade);
    }
    this.isReading = false;
    return work;
  }

  /** Decides on the bytes that wait, and whether the socket is read. */
  private settle(): void {
    this.account();
    if (this.isStopped) return;
    this.watchHead();
    const isMuch = this.held.length >= this.plane.limits.aheadBytes;
    if (this.isHolding) {
      if (isMuch) this.pauseForTurn();
      // It may not be closed to make room for another connection.
      this.connection.busy();
      return;
    }
    if (this.exchange === undefined) this.connection.idle();
    if (isMuch && this.pauseTimer === undefined) this.pauseAhead();
    this.endTurnPause();
    if (!this.hasEnded) return;
    this.hasEnded = false;
    this.inputEnded();
  }

  /** Accounts for what waits. Without room for it, ends the connection, after the response to a complete request. */
  private account(): void {
    if (this.held.length > 0) this.held = standalone(this.held);
    if (this.waiting.update(this.held.length + this.reader.heldBytes)) return;
    if (this.exchange === undefined) this.refuse('overloaded');
    else this.dropAhead();
  }

  private get isWanted(): boolean {
    return this.stream === undefined || !this.stream.isComplete;
  }

  /** The time for a head begins with its first byte. */
  private watchHead(): void {
    if (this.watched !== 'idle' || !this.reader.isInHead) return;
    this.watched = 'head';
    this.since = this.ticks.now;
  }

  private pauseForTurn(): void {
    this.isTurnPaused = true;
    this.socket.pause();
  }

  private endTurnPause(): void {
    if (!this.isTurnPaused) return;
    this.isTurnPaused = false;
    this.resume();
  }

  /** Reads the socket again unless there is another reason not to. */
  private resume(): void {
    if (!this.isBodyPaused && !this.isTurnPaused && this.pauseTimer === undefined) this.socket.resume();
  }

  /** No request is in progress. */
  private rest(): void {
    this.watched = 'idle';
    this.since = this.ticks.now;
  }

  private pauseAhead(): void {
    this.plane.quotas.reached('pipelined');
    this.socket.pause();
    this.pauseTimer = setTimeout(() => {
      this.plane.quotas.reached('pipelined-time');
      this.guard(() => this.dropAhead());
    }, this.plane.limits.aheadTimeout).unref();
  }

  /** Drops the bytes sent ahead. The connection ends with the response. The other protocol would need them. */
  private dropAhead(): void {
    if (this.isUpgrading) this.exchange?.giveUp('overloaded');
    this.isEnding = true;
    this.hasDropped = true;
    this.stop();
    this.endPause();
  }

  private endPause(): void {
    if (this.pauseTimer === undefined) return;
    clearTimeout(this.pauseTimer);
    this.pauseTimer = undefined;
    this.resume();
  }

  /** Discards further bytes. */
  private stop(): void {
    this.isStopped = true;
    this.held = nothing;
    this.waiting.close();
    this.reader.stop();
    this.endTurnPause();
  }

  /** Ends the connection because of bytes that are not a valid request. */
  private refuse(reason: AnswerReason): void {
    if (this.isStopped) return;
    this.stop();
    this.watched = 'nothing';
    this.isEnding = true;
    if (this.exchange !== undefined) {
      // The invalid bytes are the body of the current request.
      this.exchange.giveUp(reason);
      return;
    }
    recordRefusal(this.plane, this.connection, reason);
    closeGently(this.socket, rawAnswerToAnyMethod(reason));
  }

  /** Begins the exchange that asks for another protocol. What the client sends early waits like other bytes sent ahead. */
  private beginUpgrade(protocol: string): void {
    this.pendingUpgrade = undefined;
    this.isUpgrading = true;
    this.isEnding = true;
    // Until then, the limit on the time of flushing applies: the backend may answer without switching.
    this.stream?.offerUpgrade(protocol, () => this.switchOver());
    this.exchange?.start();
  }

  /** Releases the socket to another protocol, which must resume it. */
  private switchOver(): void {
    const { socket, held } = this;
    clearTimeout(this.pauseTimer);
    this.stop();
    socket.off('data', this.receive).off('end', this.ended).pause();
    // Whatever reads the stream now gets the bytes.
    readInto(socket, readBuffer, (length) => socket.push(Buffer.from(readPiece(length))));
    if (held.length > 0) socket.unshift(owned(held));
    this.released(this);
  }

  /** The response is over: passed to the connection completely, or cut off with it. */
  private readonly over = (): void => {
    const { exchange, stream, socket } = this;
    if (exchange === undefined || stream === undefined) return;
    this.exchange = undefined;
    this.stream = undefined;
    exchange.closed();
    this.connection.idle();
    this.rest();
    if (socket.destroyed) return;
    if (stream.isLast || this.isEnding) this.endAfter(stream);
    // Its head may have been sent before the drain, without `Connection: close`.
    else if (this.connection.isDraining() && this.held.length === 0) this.end(stream.isComplete);
    else this.goOn();
  };

  private endAfter(stream: Http1Stream): void {
    this.stop();
    this.endPause();
    this.watched = 'nothing';
    this.end(!stream.isInterrupted && !this.isUpgrading && !this.hasDropped);
  }

  /** Ends the connection. Further bytes of a client that is not done must not cause a reset, which would hide the response. */
  private end(isClientDone: boolean): void {
    if (isClientDone) this.socket.destroySoon();
    else closeGently(this.socket);
  }

  private goOn(): void {
    // Otherwise each response would add one more read to what has been sent ahead.
    if (this.held.length >= this.plane.limits.aheadBytes) this.pauseForTurn();
    this.endPause();
    this.bodyWanted();
    // Others first: thousands of requests that are answered here may have been sent ahead.
    if (this.held.length > 0) setImmediate(() => this.turns.take(this));
  }

  private checkTime(): void {
    const { ticks, stream } = this;
    if (stream?.isFlushing === true && this.watched !== 'flush') {
      this.watched = 'flush';
      this.since = ticks.now;
    }
    if ((this.watched === 'idle' || this.watched === 'head') && ticks.now > this.since) this.forget();
    if (this.watched === 'nothing' || ticks.now - this.since <= ticks[this.watched]) return;
    switch (this.watched) {
      case 'head':
        this.refuse('header-timeout');
        return;
      case 'idle':
        if (this.isHolding) return;
        this.plane.quotas.reached('idle');
        this.socket.destroy();
        return;
      case 'flush':
        this.plane.quotas.reached('client-stalled');
        stream?.breakOff();
    }
  }

  /** A connection that is idle, or waits for the rest of a head, keeps nothing of its last request. */
  private forget(): void {
    this.previous = undefined;
    this.reader.forget();
  }

  private readonly ended = (): void => {
    if (this.isHolding) this.hasEnded = true;
    else this.inputEnded();
  };

  private inputEnded(): void {
    // A request that did not arrive completely is aborted.
    if (this.reader.isInRequest) this.socket.destroy();
    else if (this.stream?.isIncomplete === true) this.stream.breakOff();
    else this.socket.end();
  }

  private readonly drained = (): void => {
    this.guard(() => this.exchange?.drained());
  };

  private readonly closed = (): void => {
    this.stop();
    clearTimeout(this.pauseTimer);
    this.released(this);
    if (this.exchange !== undefined) afterClosing.add(this.overGuarded);
  };

  /** Runs an action of an event, which has no caller to catch its errors: an unexpected error ends this connection only. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.fault(error);
    }
  }

  private fault(error: unknown): void {
    this.plane.fault(error);
    this.held = nothing;
    this.socket.destroy();
  }
}

function ignore(): void {
  // The close event follows an error.
}
