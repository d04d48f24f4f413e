import type { Socket } from 'node:net';
import type { Limit } from '../counters.ts';
import type { Buffered } from '../limits/buffered.ts';
import { ReleasingMap } from '../limits/releasing-map.ts';
import { ClosedStreams } from '../frames/closed-streams.ts';
import type { StreamEnd } from '../frames/closed-streams.ts';
import { allowances, FrameLimits } from '../frames/frame-limits.ts';
import { FrameReader } from '../frames/frame-reader.ts';
import { FrameReceiver } from '../frames/frame-receiver.ts';
import type { FrameTarget } from '../frames/frame-receiver.ts';
import type { WholeBlock } from '../frames/header-block.ts';
import type { SectionReader } from '../frames/header-sections.ts';
import { ConnectionError, errorCodes, frameTypes, preface } from '../frames/protocol.ts';
import { Sender } from '../frames/sender.ts';
import { settingsForBackends } from '../frames/settings.ts';
import type { PeerSettings } from '../frames/settings.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { readBuffer, readPiece } from '../limits/read-buffer.ts';
import { joinShortPieces } from '../sockets/join-pieces.ts';
import type { BackendTurns } from '../sockets/backend-turns.ts';
import { inTurns } from '../sockets/read-in-turns.ts';
import { closeGently } from '../messages/connection.ts';
import type { Fields, UpstreamFailure, UpstreamHead } from '../messages/forwarder.ts';
import { readInto } from '../sockets/direct.ts';
import { ActionInTurns } from '../../time/slices.ts';
import { BackendStream } from './http2-backend-stream.ts';
import type { Asked, BackendCarrier, Sendable, StreamOpener, StreamOwner } from './http2-backend-stream.ts';

/** Callbacks of a connection; `ended` is called last, and once. */
export interface ConnectionEvents {
  /** A request of the connection is over. */
  done(call: Pick<StreamOwner, 'client'>): void;
  /** The backend has sent its settings, or other ones: the first time, the connection is ready. */
  ready(): void;
  /** The connection can take requests, or more of them. */
  hasRoom(): void;
  /** It takes no more requests; `failure` is set if it never took any. */
  ended(failure: UpstreamFailure | undefined): void;
  /** The backend has exceeded a limit. */
  exceeded(limit: Limit): void;
  /** Returns a new account for bytes that the connection keeps. */
  account(): Buffered;
  /** An unexpected error, which has ended a request or the connection. */
  fault(error: unknown): void;
}

const failures: Readonly<Record<number, UpstreamFailure>> = {
  [errorCodes.refusedStream]: 'refused',
  [errorCodes.protocolError]: 'protocol',
};

const nothing = Buffer.alloc(0);

/** Tells requests that their connection is lost, a few in each turn: a backend can have thousands, and most of them get a response or a retry. */
const losing = new ActionInTurns<() => void>((lost) => lost());

/**
 * An HTTP/2 connection to a backend (RFC 9113). It is ready after the backend has sent its settings, which prove that it
 * speaks HTTP/2 and limit the number of concurrent requests (sections 3.4 and 5.1.2).
 */
export class Http2Connection implements FrameTarget<BackendStream>, BackendCarrier, StreamOpener {
  readonly sender: Sender;
  readonly frameLimits: FrameLimits;
  readonly streams = new ReleasingMap<number, BackendStream>();
  readonly closedStreams = new ClosedStreams();
  lastStream = -1;
  readonly lastServed = Infinity;
  isReady = false;
  takesWebSockets = false;
  /** Limit of concurrent requests, available once it is ready. */
  capacity = Infinity;
  private readonly socket: Socket;
  private readonly limits: ProxyLimits;
  private readonly events: ConnectionEvents;
  private readonly reader: FrameReader;
  private readonly receiver: FrameReceiver<BackendStream>;
  private readonly receivedInTurn: (bytes: number) => void;
  private readonly settingsTimer: NodeJS.Timeout;
  private readonly idleTimer: NodeJS.Timeout;
  /** Streams that wait for `settle`. */
  private unsettled: BackendStream[] = [];
  /** The last head of a response: the next one often is the same. */
  private lastHead: UpstreamHead | undefined;
  /** Accounts for an incomplete frame or header section, after the first one. */
  private incomplete: Buffered | undefined;
  private hasEnded = false;
  /** The streams after this one will be refused. */
  private refusedAfter = Infinity;
  /** Whether further bytes are ignored. */
  private isStopped = false;
  /** Number of requests so far. */
  private taken = 0;

  /** `socket` is established; `turns` are those of the backend. */
  constructor(socket: Socket, limits: ProxyLimits, turns: BackendTurns, events: ConnectionEvents) {
    this.socket = socket;
    this.limits = limits;
    this.events = events;
    this.frameLimits = new FrameLimits((limit) => this.calm(limit), allowances.ofBackends);
    this.sender = new Sender(socket, {
      wrote: (bytes) => this.frameLimits.wrote(bytes),
      failed: (error) => this.broke(error),
      unread: () => this.calm('http2-pings'),
      guard: (outgoing, action) => this.guardId(outgoing.id, action),
    });
    this.receiver = new FrameReceiver(this, { ...limits, headerCount: 4 * limits.headerCount });
    this.reader = new FrameReader(this.receiver, nothing);
    this.receivedInTurn = inTurns(socket);
    this.settingsTimer = setTimeout(() => socket.destroy(), limits.connectTimeout);
    this.idleTimer = setTimeout(() => this.closeIfIdle(), limits.idleTimeout).unref();
    this.sender.begin(preface);
    this.sender.frame(frameTypes.settings, 0, 0, settingsForBackends(limits));
    this.receiver.start();
    const received = joinShortPieces(socket, turns.of(socket, this.read));
    socket
      .on('drain', () => this.sender.drained())
      // A backend that has closed its side can neither update windows nor send a response.
      .once('end', () => socket.destroy())
      .on('error', ignore)
      .on('close', this.closed);
    const isRead = socket.readableLength === 0 && readInto(socket, readBuffer, (length) => received(readPiece(length)));
    if (isRead) socket.resume();
    else socket.on('data', received);
  }

  get room(): number {
    if (!this.isReady || this.hasEnded) return 0;
    return Math.min(this.capacity - this.streams.size, this.limits.requestsPerBackendConnection - this.taken);
  }

  /** Sends a request. There must be room. */
  take(call: Sendable): void {
    this.taken += 1;
    if (call.begin(this) === undefined) this.events.done(call);
    // The number of stream identifiers is limited (RFC 9113 section 5.1.1).
    if (this.taken >= this.limits.requestsPerBackendConnection) this.close();
  }

  open(owner: StreamOwner, asked: Asked): BackendStream {
    this.lastStream += 2;
    const stream = new BackendStream(
      this,
      { id: this.lastStream, owner, asked },
      { send: this.receiver.initialWindow, receive: this.limits.streamWindow },
    );
    this.streams.set(stream.id, stream);
    this.frameLimits.requested();
    return stream;
  }

  /** Takes no more requests, and closes after the current ones. */
  close(): void {
    this.end('connect');
    // Not earlier: some backends reject requests in transit after a client's GOAWAY.
    if (this.streams.size === 0) this.leave(errorCodes.noError);
  }

  destroy(): void {
    this.socket.destroy();
  }

  checkOpening(id: number): void {
    if (id === 0 || id % 2 === 0 || id > this.lastStream)
      throw new ConnectionError(errorCodes.protocolError, 'HEADERS on a stream that the backend cannot open');
    if (this.closedStreams.endOf(id) === 'ended')
      throw new ConnectionError(errorCodes.streamClosed, 'HEADERS on a closed stream');
  }

  onHead({ stream: id, endsStream, bytes }: WholeBlock, sections: SectionReader): void {
    const section = sections.readResponse(bytes);
    if (section.problem === 'too-large') this.events.exceeded('response-header');
    // Only its head opens a stream.
    if ((this.streams.get(id)?.outgoing.heads.length ?? 0) > 0)
      throw new ConnectionError(errorCodes.protocolError, 'a response to a request that was not sent');
    this.withStream(id, (stream) => stream.respond(section, endsStream));
  }

  onData(stream: BackendStream, data: Buffer): void {
    if (!stream.expects(data.length)) this.streamError(stream.id, errorCodes.protocolError);
    else this.withStream(stream.id, () => stream.receive(data));
  }

  onLastData(stream: BackendStream, data: Buffer): void {
    this.onData(stream, data);
  }

  onEnd(stream: BackendStream, trailers: Fields): void {
    if (!stream.isWhole) this.streamError(stream.id, errorCodes.protocolError);
    else this.withStream(stream.id, () => stream.receiveEnd(trailers));
  }

  onReset(stream: BackendStream, code: number): void {
    this.remove(stream, 'peer');
    this.guardStream(stream, () => stream.lost(failures[code] ?? 'reset', code));
  }

  /** The backend has not processed the streams after `last` (RFC 9113 section 6.8). It may complete the others. */
  onGoaway(_code: number, last: number): void {
    this.end('connect');
    this.refusedAfter = Math.min(this.refusedAfter, last);
    if (this.streams.size === 0) this.leave(errorCodes.noError);
  }

  onSettings({ maxConcurrentStreams, enablePush, enableConnectProtocol }: PeerSettings): void {
    // RFC 9113 section 6.5.2.
    if (enablePush === 1) throw new ConnectionError(errorCodes.protocolError, 'SETTINGS_ENABLE_PUSH of a server');
    this.capacity = maxConcurrentStreams ?? this.capacity;
    this.takesWebSockets = enableConnectProtocol === undefined ? this.takesWebSockets : enableConnectProtocol === 1;
    clearTimeout(this.settingsTimer);
    this.isReady = true;
    if (this.hasEnded) return;
    this.events.ready();
    this.events.hasRoom();
  }

  streamError(id: number, code: number): void {
    if (this.isStopped) return;
    const stream = this.streams.get(id);
    if (stream === undefined) {
      // Unlike errors of responses, these do not need a request each.
      this.frameLimits.countReset();
      this.closedStreams.add(id, 'side');
      this.sender.reset(id, code);
      return;
    }
    this.resetStream(stream, code);
    this.guardStream(stream, () => stream.lost('protocol', code));
  }

  resetStream(stream: BackendStream, code: number): void {
    if (this.streams.get(stream.id) !== stream) return;
    // A stream whose head was not sent is idle for the backend, and is passed over (RFC 9113 section 5.1.1).
    if (stream.outgoing.heads.length === 0) this.sender.reset(stream.id, code);
    this.remove(stream, 'side');
  }

  headOf(status: number, fields: Fields): UpstreamHead {
    if (this.lastHead?.fields !== fields || this.lastHead.status !== status)
      this.lastHead = { status, fields, httpVersion: '2.0', forwarded: undefined };
    return this.lastHead;
  }

  streamEnded(stream: BackendStream): void {
    this.remove(stream, 'ended');
  }

  guardStream(stream: BackendStream, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.events.fault(error);
      stream.owner.fail('protocol');
    }
  }

  private guardId(id: number, action: () => void): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) this.guardStream(stream, action);
  }

  /** Runs an action of an open stream that may pass on a part of its response. */
  private withStream(id: number, action: (stream: BackendStream) => void): void {
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    const isNoted = stream.isUnsettled;
    this.guardStream(stream, () => action(stream));
    if (stream.isUnsettled && !isNoted) this.unsettled.push(stream);
  }

  private readonly read = (bytes: Buffer): void => {
    this.receivedInTurn(bytes.length);
    if (!this.isStopped) this.guard(() => this.reader.read(bytes, Infinity));
    this.hold(this.reader.heldBytes + this.receiver.heldBytes);
    this.guard(() => this.refuse());
    this.settle();
  };

  /** Keeps bytes until the rest arrives. Without room for them, ends the connection. */
  private hold(bytes: number): void {
    if (bytes > 0) this.incomplete ??= this.events.account();
    if (this.incomplete?.update(bytes) === false) this.fail(errorCodes.enhanceYourCalm);
  }

  /** Refuses what the backend has not processed. A backend can send hundreds of GOAWAY frames at once, and have thousands of streams. */
  private refuse(): void {
    const last = this.refusedAfter;
    if (last === Infinity) return;
    this.refusedAfter = Infinity;
    for (const stream of this.streams.values()) {
      if (stream.id <= last) continue;
      this.remove(stream, 'side');
      this.tellLost(stream, 'refused', errorCodes.refusedStream);
    }
  }

  private settle(): void {
    const { unsettled } = this;
    if (unsettled.length === 0) return;
    this.unsettled = [];
    for (const stream of unsettled) {
      this.guardStream(stream, () => stream.settle());
    }
  }

  /** A stream is closed: there is room for another one. */
  private remove(stream: BackendStream, end: StreamEnd): void {
    if (this.streams.get(stream.id) !== stream) return;
    this.sender.drop(stream.outgoing);
    this.streams.delete(stream.id);
    this.closedStreams.add(stream.id, end);
    if (end === 'side') this.frameLimits.closed(this.limits.streamWindow + 4 * this.limits.headerBytes);
    this.events.done(stream.owner);
    if (this.streams.size === 0) {
      this.idleTimer.refresh();
      if (this.hasEnded) this.leave(errorCodes.noError);
    }
    if (this.room > 0) this.events.hasRoom();
  }

  private closeIfIdle(): void {
    if (this.streams.size === 0) this.close();
  }

  private end(failure: UpstreamFailure): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.events.ended(this.taken > 0 ? undefined : failure);
  }

  /** Sends GOAWAY and closes the connection, without an error after its last stream. */
  private leave(code: number): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.sender.goaway(0, code);
    this.reader.stop();
    this.sender.flush();
    this.sender.close();
    // Closing immediately would reset the connection, and GOAWAY would be lost.
    closeGently(this.socket);
  }

  /** Ends the connection of a backend that sends too many frames of a kind (RFC 9113 section 10.5). */
  private calm(limit: Limit): void {
    if (this.isStopped) return;
    this.events.exceeded(limit);
    this.fail(errorCodes.enhanceYourCalm);
  }

  /** Ends the connection because of an error of the backend (RFC 9113 section 5.4.1). */
  private fail(code: number): void {
    if (this.isStopped) return;
    this.end('protocol');
    for (const { outgoing } of this.streams.values()) this.sender.drop(outgoing);
    this.leave(code);
    this.lose('protocol');
  }

  private readonly closed = (): void => {
    this.incomplete?.close();
    clearTimeout(this.settingsTimer);
    clearTimeout(this.idleTimer);
    this.isStopped = true;
    this.reader.stop();
    this.sender.close();
    this.end('connect');
    this.lose('reset');
  };

  private lose(failure: UpstreamFailure): void {
    for (const stream of this.streams.values()) {
      this.remove(stream, 'peer');
      this.tellLost(stream, failure, errorCodes.cancel);
    }
  }

  /** Tells the request of a removed stream that there will be no response. */
  private tellLost(stream: BackendStream, failure: UpstreamFailure, code: number): void {
    losing.add(() => this.guardStream(stream, () => stream.lost(failure, code)));
  }

  /** Runs an action of an event, which has no caller to catch its errors: an unexpected error ends this connection only. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof ConnectionError) this.fail(error.code);
      else this.broke(error);
    }
  }

  /** Ends the connection after an unexpected error. */
  private broke(error: unknown): void {
    this.events.fault(error);
    this.socket.destroy();
  }
}

function ignore(): void {
  // The close event follows an error.
}
