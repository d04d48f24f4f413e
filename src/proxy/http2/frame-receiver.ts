import { dataBytesPerWork, headerBytesPerWork, requestWork } from '../listen/input-turns.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import type { ClosedStreams } from './closed-streams.ts';
import type { FrameLimits } from './frame-limits.ts';
import type { FrameEvents, FrameHead } from './frame-reader.ts';
import { HeaderBlock } from './header-block.ts';
import type { WholeBlock } from './header-block.ts';
import { SectionReader } from './header-sections.ts';
import type { HeaderSection } from './header-sections.ts';
import type { Http2Stream } from './http2-stream.ts';
import { ConnectionError, errorCodes, frameFlags, frameTypes, initialWindow, maxWindow } from './protocol.ts';
import type { Sender } from './sender.ts';
import { parseSettings } from './settings.ts';

/** What the frames of a client act on. */
export interface FrameTarget {
  readonly sender: Sender;
  readonly frameLimits: FrameLimits;
  readonly streams: ReadonlyMap<number, Http2Stream>;
  readonly closedStreams: ClosedStreams;
  /** The highest stream that the client has opened. */
  readonly lastStream: number;
  /** The highest stream that is served, if GOAWAY was sent. */
  readonly lastServed: number;
  /** A stream was opened. Malformed requests were not sorted out yet. */
  onRequest(block: WholeBlock, section: HeaderSection): void;
  /** A piece of a body. */
  onData(stream: Http2Stream, data: Buffer): void;
  /** The last piece of a body; `onEnd` follows unless it is invalid. */
  onLastData(stream: Http2Stream, data: Buffer): void;
  /** The request is complete. */
  onEnd(stream: Http2Stream, trailers: readonly string[]): void;
  /** The client has reset a stream. */
  onReset(stream: Http2Stream, code: number): void;
  /** The client ends the connection. */
  onGoaway(code: number): void;
  /** The initial window of all streams has changed. */
  onInitialWindow(size: number): void;
  /** Resets a stream because of an error of the client (RFC 9113 section 5.4.2). */
  streamError(stream: number, code: number): void;
}

const nothing = Buffer.alloc(0);

/** Validates the frames of a client and their order (RFC 9113 sections 5.1 and 6). */
export class FrameReceiver implements FrameEvents {
  private readonly target: FrameTarget;
  private readonly block: HeaderBlock;
  private readonly sections: SectionReader;
  /** The window of the client for the connection. Its bytes are read at once, whatever becomes of them. */
  private window: number;
  private readonly fullWindow: number;
  private hasSettings = false;
  /** The stream of the current DATA frame, unless it is ignored, and the bytes of the frame before its padding. */
  private dataStream: Http2Stream | undefined;
  private dataLeft = 0;
  private isPaddingKnown = false;
  private isDataEmpty = true;

  constructor(target: FrameTarget, limits: ProxyLimits) {
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

  /** Releases the memory of the last request. */
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
        this.checkOpening(head.stream);
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
        this.target.onGoaway(payload.readUInt32BE(4));
        return;
      case frameTypes.windowUpdate:
        this.windowUpdate(head, payload);
        return;
      default:
        throw protocolError('PUSH_PROMISE of a client');
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
    if (stream === undefined) this.onClosed(id);
    else if (stream.isComplete) this.target.streamError(id, errorCodes.streamClosed);
    else if (!stream.receiveWindow.take(length)) this.target.streamError(id, errorCodes.flowControlError);
    else this.dataStream = stream;
  }

  private credit(): void {
    this.target.sender.credit(0, this.fullWindow - this.window);
    this.window = this.fullWindow;
  }

  /** Returns the stream of a frame, `undefined` if it is closed. It must have been open. */
  private knownStream(id: number): Http2Stream | undefined {
    const stream = this.target.streams.get(id);
    if (stream === undefined && (id === 0 || id % 2 === 0 || id > this.target.lastStream))
      throw protocolError('a frame on an idle stream');
    return stream;
  }

  /** A frame has arrived for a closed stream. Those for streams that this side has reset or does not serve were in transit. */
  private onClosed(id: number): void {
    const { closedStreams, lastServed } = this.target;
    const end = closedStreams.endOf(id);
    if (id > lastServed || end === 'side') return;
    if (end === 'ended') throw new ConnectionError(errorCodes.streamClosed, 'a frame on a closed stream');
    this.target.streamError(id, errorCodes.streamClosed);
  }

  /** Judges the stream of a HEADERS frame (RFC 9113 section 5.1.1). Its section must be decoded in any case. */
  private checkOpening(id: number): void {
    const { streams, closedStreams, lastStream, lastServed } = this.target;
    if (id % 2 === 0) throw protocolError('invalid stream identifier');
    if (id > lastStream || streams.has(id) || id > lastServed) return;
    const end = closedStreams.endOf(id);
    if (end === undefined) throw protocolError('a stream identifier that is lower than an earlier one');
    if (end === 'ended') throw new ConnectionError(errorCodes.streamClosed, 'HEADERS on a closed stream');
  }

  private headers(block: WholeBlock | undefined): void {
    if (block === undefined) return;
    const { target } = this;
    const stream = target.streams.get(block.stream);
    if (stream !== undefined) this.trailers(stream, block);
    else if (block.stream > target.lastStream) target.onRequest(block, this.sections.readRequest(block.bytes));
    else {
      this.sections.readTrailers(block.bytes);
      this.onClosed(block.stream);
    }
  }

  private trailers(stream: Http2Stream, { bytes, endsStream }: WholeBlock): void {
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
    const { headerTableSize, initialWindowSize } = parseSettings(payload);
    if (headerTableSize !== undefined) sender.permitTable(headerTableSize);
    if (initialWindowSize !== undefined) this.target.onInitialWindow(initialWindowSize);
    sender.frame(frameTypes.settings, frameFlags.acknowledgement, 0, nothing);
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
