import { dataBytesPerWork, headerBytesPerWork, requestWork } from '../listen/input-turns.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { ReleasingMap } from '../limits/releasing-map.ts';
import type { ClosedStreams } from './closed-streams.ts';
import type { FrameLimits } from './frame-limits.ts';
import type { FrameEvents, FrameHead } from './frame-reader.ts';
import { HeaderBlock } from './header-block.ts';
import type { WholeBlock } from './header-block.ts';
import { SectionReader } from './header-sections.ts';
import type { Outgoing } from './outgoing.ts';
import { ConnectionError, errorCodes, frameFlags, frameTypes, initialWindow, maxWindow } from './protocol.ts';
import type { ReceiveWindow } from './receive-window.ts';
import type { Sender } from './sender.ts';
import { parseSettings } from './settings.ts';
import type { PeerSettings } from './settings.ts';

/** A stream as its frames see it. */
export interface FrameStream {
  readonly id: number;
  readonly outgoing: Outgoing;
  readonly receiveWindow: ReceiveWindow;
  /** Whether the head of a message is expected, and not its content. */
  readonly awaitsHead: boolean;
  /** Whether the peer has ended its direction. */
  readonly isComplete: boolean;
  /** Lets the peer send as much as was read. */
  credit(): void;
}

/** What the frames of a peer act on: a connection of a client, or to a backend. */
export interface FrameTarget<S extends FrameStream> {
  readonly sender: Sender;
  readonly frameLimits: FrameLimits;
  readonly streams: Pick<ReleasingMap<number, S>, 'get' | 'has' | 'values'>;
  readonly closedStreams: ClosedStreams;
  /** The highest stream that was opened. */
  readonly lastStream: number;
  /** The highest stream that is served, if GOAWAY was sent. */
  readonly lastServed: number;
  /** Judges HEADERS on a stream that is not open (RFC 9113 section 5.1.1). @throws ConnectionError */
  checkOpening(id: number): void;
  /** The head of a message, on a stream that is to be opened or awaits it. It must be decoded. */
  onHead(block: WholeBlock, sections: SectionReader): void;
  /** A piece of a body. */
  onData(stream: S, data: Buffer): void;
  /** The last piece of a body; `onEnd` follows unless it is invalid. */
  onLastData(stream: S, data: Buffer): void;
  /** The message is complete. */
  onEnd(stream: S, trailers: readonly string[]): void;
  /** The peer has reset a stream. */
  onReset(stream: S, code: number): void;
  /** The peer ends the connection. It does not process later streams than `last`. */
  onGoaway(code: number, last: number): void;
  /** Settings were received. Those of windows and header compression were applied. */
  onSettings(settings: PeerSettings): void;
  /** Resets a stream because of an error of the peer (RFC 9113 section 5.4.2). */
  streamError(stream: number, code: number): void;
}

const nothing = Buffer.alloc(0);

/** Validates the frames of a peer and their order (RFC 9113 sections 5.1 and 6). */
export class FrameReceiver<S extends FrameStream> implements FrameEvents {
  /** The initial window of the peer's streams. Those of open streams follow it in `onPause`. */
  initialWindow = initialWindow;
  private isResizing = false;
  private readonly target: FrameTarget<S>;
  private readonly block: HeaderBlock;
  private readonly sections: SectionReader;
  /** The window of the peer for the connection. Its bytes are read at once, whatever becomes of them. */
  private window: number;
  private readonly fullWindow: number;
  private hasSettings = false;
  /** The stream of the current DATA frame, unless it is ignored, and the bytes of the frame before its padding. */
  private dataStream: S | undefined;
  private dataLeft = 0;
  private isPaddingKnown = false;
  private isDataEmpty = true;

  constructor(target: FrameTarget<S>, limits: Pick<ProxyLimits, 'headerBytes' | 'headerCount' | 'streamWindow'>) {
    this.target = target;
    this.block = new HeaderBlock(2 * limits.headerBytes);
    this.sections = new SectionReader(limits);
    // Streams have smaller windows, so that one of them cannot use all of it.
    this.fullWindow = 4 * limits.streamWindow;
    this.window = initialWindow;
  }

  /** Extends the window of the connection, whose initial size is fixed (RFC 9113 section 6.9.2). */
  start(): void {
    if (this.fullWindow > this.window) this.credit();
  }

  /** Whether a header section has begun but not ended. */
  get isInHeaderSection(): boolean {
    return this.block.openStream !== undefined;
  }

  /** Bytes of an incomplete header section. */
  get heldBytes(): number {
    return this.block.heldBytes;
  }

  /** Releases the memory of the last message. */
  forget(): void {
    this.sections.forget();
  }

  onHead(head: FrameHead): number {
    const { type, length } = head;
    this.checkOrder(head);
    this.target.frameLimits.count(head);
    if (type === frameTypes.data) this.beginData(head);
    switch (type) {
      case frameTypes.headers:
        return requestWork + length / headerBytesPerWork;
      case frameTypes.continuation:
      case frameTypes.settings:
        return 1 + length / headerBytesPerWork;
      default:
        return 1 + length / dataBytesPerWork;
    }
  }

  onFrame(head: FrameHead, payload: Buffer): void {
    switch (head.type) {
      case frameTypes.headers:
        if (!this.target.streams.has(head.stream)) this.target.checkOpening(head.stream);
        this.headers(this.block.begin(head, payload));
        return;
      case frameTypes.continuation:
        this.headers(this.block.continue(head, payload));
        return;
      case frameTypes.priority:
        this.priority(head, payload);
        return;
      case frameTypes.reset:
        this.reset(head, payload);
        return;
      case frameTypes.settings:
        this.settings(head, payload);
        return;
      case frameTypes.ping:
        this.ping(head, payload);
        return;
      case frameTypes.goaway:
        if (head.stream !== 0) throw protocolError('GOAWAY on a stream');
        if (payload.length < 8) throw frameSizeError('GOAWAY');
        this.target.onGoaway(payload.readUInt32BE(4), payload.readUInt32BE(0) & 0x7fff_ffff);
        return;
      case frameTypes.windowUpdate:
        this.windowUpdate(head, payload);
        return;
      default:
        throw protocolError('PUSH_PROMISE');
    }
  }

  onDataPiece(head: FrameHead, piece: Buffer, left: number): void {
    // It may have been reset meanwhile.
    const stream = this.dataStream?.outgoing.isOver === true ? undefined : this.dataStream;
    const endsStream = (head.flags & frameFlags.endStream) !== 0;
    const data = this.withoutPadding(head, piece);
    if (left === 0 && this.isDataEmpty && !endsStream) this.target.frameLimits.countEmptyData();
    if (stream === undefined) return;
    stream.receiveWindow.add(piece.length);
    if (left > 0 || !endsStream) {
      if (data.length > 0) this.target.onData(stream, data);
      stream.credit();
      return;
    }
    if (data.length > 0) this.target.onLastData(stream, data);
    // It may have been reset.
    if (this.target.streams.get(head.stream) === stream) this.target.onEnd(stream, []);
  }

  /** Returns the part of a piece of a DATA frame that is neither padding nor its length. */
  private withoutPadding({ length }: FrameHead, piece: Buffer): Buffer {
    let content = piece;
    if (!this.isPaddingKnown && piece.length > 0) {
      this.isPaddingKnown = true;
      this.dataLeft = length - 1 - (piece[0] ?? 0);
      if (this.dataLeft < 0) throw protocolError('padding');
      content = piece.subarray(1);
    }
    const data = content.subarray(0, this.dataLeft);
    this.dataLeft -= data.length;
    if (data.length > 0) this.isDataEmpty = false;
    return data;
  }

  private checkOrder({ type, flags, stream }: FrameHead): void {
    const { openStream } = this.block;
    const isExpected = openStream === undefined || (type === frameTypes.continuation && stream === openStream);
    if (!isExpected || (type === frameTypes.continuation && openStream === undefined))
      throw protocolError('a frame within a header section, or CONTINUATION outside one');
    if (this.hasSettings) return;
    // RFC 9113 section 3.4.
    if (type !== frameTypes.settings || (flags & frameFlags.acknowledgement) !== 0) throw protocolError('no SETTINGS');
    this.hasSettings = true;
  }

  /** Judges a DATA frame by its head (RFC 9113 section 6.1). */
  private beginData(head: FrameHead): void {
    const { stream: id, flags, length } = head;
    const stream = this.knownStream(id);
    this.dataStream = undefined;
    this.isPaddingKnown = (flags & frameFlags.padded) === 0;
    this.dataLeft = length;
    this.isDataEmpty = true;
    if (!this.isPaddingKnown && length === 0) throw frameSizeError('DATA');
    this.window -= length;
    if (this.window < 0) throw new ConnectionError(errorCodes.flowControlError, 'window of the connection');
    if (this.window < this.fullWindow / 2) this.credit();
    if (stream === undefined) {
      if (this.isLate(id)) this.target.frameLimits.countLateData(length);
    } else if (stream.isComplete) this.target.streamError(id, errorCodes.streamClosed);
    else if (stream.awaitsHead) this.target.streamError(id, errorCodes.protocolError);
    else if (!stream.receiveWindow.take(length)) this.target.streamError(id, errorCodes.flowControlError);
    else this.dataStream = stream;
  }

  private credit(): void {
    this.target.sender.credit(0, this.fullWindow - this.window);
    this.window = this.fullWindow;
  }

  /** Returns the stream of a frame, `undefined` if it is closed. It must have been open. */
  private knownStream(id: number): S | undefined {
    const stream = this.target.streams.get(id);
    if (stream === undefined && (id === 0 || id % 2 === 0 || id > this.target.lastStream))
      throw protocolError('a frame on an idle stream');
    return stream;
  }

  /**
   * A frame has arrived for a closed stream. Returns whether it is ignored, because it was in transit when this side has reset the stream.
   * Frames for streams that this side does not serve are ignored, too.
   */
  private isLate(id: number): boolean {
    const { closedStreams, lastServed } = this.target;
    const end = closedStreams.endOf(id);
    if (id > lastServed) return false;
    if (end === 'side') return true;
    if (end === 'ended') throw new ConnectionError(errorCodes.streamClosed, 'a frame on a closed stream');
    this.target.streamError(id, errorCodes.streamClosed);
    return false;
  }

  private headers(block: WholeBlock | undefined): void {
    if (block === undefined) return;
    const { target } = this;
    const stream = target.streams.get(block.stream);
    if (stream?.awaitsHead ?? block.stream > target.lastStream) target.onHead(block, this.sections);
    else if (stream !== undefined) this.trailers(stream, block);
    else {
      this.sections.readTrailers(block.bytes);
      if (this.isLate(block.stream)) target.frameLimits.countLateHeaders(block.bytes.length);
    }
  }

  private trailers(stream: S, { bytes, endsStream }: WholeBlock): void {
    const { problem, fields } = this.sections.readTrailers(bytes);
    if (stream.isComplete) this.target.streamError(stream.id, errorCodes.streamClosed);
    else if (problem !== undefined || !endsStream) this.target.streamError(stream.id, errorCodes.protocolError);
    else this.target.onEnd(stream, fields);
  }

  /** Priorities are deprecated and ignored, but not their syntax (RFC 9113 section 6.3). */
  private priority({ stream }: FrameHead, payload: Buffer): void {
    if (stream === 0) throw protocolError('PRIORITY on stream 0');
    if (payload.length !== 5) this.target.streamError(stream, errorCodes.frameSizeError);
    else if ((payload.readUInt32BE(0) & 0x7fff_ffff) === stream)
      this.target.streamError(stream, errorCodes.protocolError);
  }

  private reset({ stream: id }: FrameHead, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError('RST_STREAM');
    const stream = this.knownStream(id);
    if (stream !== undefined) this.target.onReset(stream, payload.readUInt32BE(0));
  }

  private settings({ stream, flags }: FrameHead, payload: Buffer): void {
    if (stream !== 0) throw protocolError('SETTINGS on a stream');
    if ((flags & frameFlags.acknowledgement) !== 0) {
      if (payload.length > 0) throw frameSizeError('SETTINGS');
      return;
    }
    const { sender } = this.target;
    const settings = parseSettings(payload);
    const { headerTableSize, initialWindowSize } = settings;
    if (headerTableSize !== undefined) sender.permitTable(headerTableSize);
    if (initialWindowSize !== undefined) {
      this.initialWindow = initialWindowSize;
      this.isResizing = true;
    }
    this.target.onSettings(settings);
    sender.frame(frameTypes.settings, frameFlags.acknowledgement, 0, nothing);
  }

  /** A peer can change the initial window a hundred times at once, and a backend can have thousands of streams. */
  onPause(): void {
    if (!this.isResizing) return;
    this.isResizing = false;
    for (const { outgoing } of this.target.streams.values()) this.resize(outgoing);
  }

  private resize(outgoing: Outgoing): void {
    const hasGrown = outgoing.resize(this.initialWindow);
    if (outgoing.window > maxWindow) throw new ConnectionError(errorCodes.flowControlError, 'window of a stream');
    if (hasGrown) this.target.sender.want(outgoing);
  }

  private ping({ stream, flags }: FrameHead, payload: Buffer): void {
    if (stream !== 0) throw protocolError('PING on a stream');
    if (payload.length !== 8) throw frameSizeError('PING');
    if ((flags & frameFlags.acknowledgement) === 0)
      this.target.sender.frame(frameTypes.ping, frameFlags.acknowledgement, 0, payload);
  }

  private windowUpdate({ stream: id }: FrameHead, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError('WINDOW_UPDATE');
    const { sender } = this.target;
    const increment = payload.readUInt32BE(0) & 0x7fff_ffff;
    if (id === 0) {
      sender.window += increment;
      if (increment === 0) throw protocolError('WINDOW_UPDATE of 0');
      if (sender.window > maxWindow) throw new ConnectionError(errorCodes.flowControlError, 'WINDOW_UPDATE');
      sender.windowGrew();
      return;
    }
    const stream = this.knownStream(id);
    if (stream === undefined) return;
    this.resize(stream.outgoing);
    stream.outgoing.window += increment;
    if (increment === 0) this.target.streamError(id, errorCodes.protocolError);
    else if (stream.outgoing.window > maxWindow) this.target.streamError(id, errorCodes.flowControlError);
    else sender.want(stream.outgoing);
  }
}

function protocolError(message: string): ConnectionError {
  return new ConnectionError(errorCodes.protocolError, message);
}

function frameSizeError(message: string): ConnectionError {
  return new ConnectionError(errorCodes.frameSizeError, message);
}
