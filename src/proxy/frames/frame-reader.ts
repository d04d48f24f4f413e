import {
  preface as clientPreface,
  ConnectionError,
  errorCodes,
  frameHeadLength,
  frameTypes,
  maxPayload,
} from './protocol.ts';

export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  /** Stream identifier. */
  readonly stream: number;
  /** Length of the payload. */
  readonly length: number;
}

/** Callbacks in the order of the frames. A `ConnectionError` ends the connection. */
export interface FrameEvents {
  /** A head has arrived. Returns the amount of work for the frame. */
  onHead(head: FrameHead): number;
  /** A whole frame of another type than DATA. */
  onFrame(head: FrameHead, payload: Buffer): void;
  /** A piece of the payload of a DATA frame. `left` bytes of the frame follow. */
  onDataPiece(head: FrameHead, piece: Buffer, left: number): void;
  /** The bytes that arrived together were read, or as many as the budget permits. */
  onPause(): void;
}

const nothing = Buffer.alloc(0);

/**
 * Finds the frames in a peer's bytes (RFC 9113 section 4). DATA is passed on as it arrives, frames of unknown types
 * are skipped, and of all others at most one waits until it is complete.
 *
 * @throws ConnectionError in `read`
 */
export class FrameReader {
  private readonly events: FrameEvents;
  private readonly preface: Buffer;
  private prefaceRead = 0;
  /** A frame head that arrives in pieces. */
  private readonly partial = Buffer.alloc(frameHeadLength);
  private partialLength = 0;
  /** The frame whose payload is incomplete. */
  private head: FrameHead | undefined;
  private left = 0;
  /** Its payload so far, unless it is passed on or skipped. */
  private payload: Buffer | undefined;
  private isStopped = false;
  /** The work of the last call of `read`. */
  work = 0;

  /** `preface` precedes the frames: that of a client, or nothing (RFC 9113 section 3.4). */
  constructor(events: FrameEvents, preface = clientPreface) {
    this.events = events;
    this.preface = preface;
  }

  /** The type of the frame that has arrived in part. */
  get openType(): number | undefined {
    return this.head?.type;
  }

  /** Bytes of an incomplete frame that wait for the rest. */
  get heldBytes(): number {
    return this.payload?.length ?? 0;
  }

  /** Reads nothing more, also if it is called while a frame is passed on. */
  stop(): void {
    this.isStopped = true;
    this.payload = undefined;
  }

  /** Reads all bytes, or up to the end of a frame if the work reaches `budget`. Returns the number of bytes read. */
  read(bytes: Buffer, budget: number): number {
    let position = this.readPreface(bytes);
    this.work = 0;
    while (!this.isStopped && position < bytes.length && (this.work < budget || this.head !== undefined))
      position =
        this.head === undefined ? this.readHead(bytes, position) : this.readPayload(this.head, bytes, position);
    if (!this.isStopped) this.events.onPause();
    return position;
  }

  private readPreface(bytes: Buffer): number {
    const { preface } = this;
    if (this.prefaceRead === preface.length) return 0;
    const length = Math.min(bytes.length, preface.length - this.prefaceRead);
    if (bytes.compare(preface, this.prefaceRead, this.prefaceRead + length, 0, length) !== 0)
      throw new ConnectionError(errorCodes.protocolError, 'invalid preface');
    this.prefaceRead += length;
    return length;
  }

  private readHead(bytes: Buffer, start: number): number {
    const has = Math.min(frameHeadLength - this.partialLength, bytes.length - start);
    if (has === frameHeadLength) {
      this.begin(bytes, start);
    } else {
      bytes.copy(this.partial, this.partialLength, start, start + has);
      this.partialLength += has;
      if (this.partialLength === frameHeadLength) this.begin(this.partial, 0);
    }
    return start + has;
  }

  private begin(bytes: Buffer, at: number): void {
    this.partialLength = 0;
    const head = {
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      stream: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
      length: bytes.readUIntBE(at, 3),
    };
    if (head.length > maxPayload)
      throw new ConnectionError(errorCodes.frameSizeError, `a frame of ${head.length} bytes`);
    this.work += this.events.onHead(head);
    if (head.length === 0) {
      this.pass(head, nothing, 0);
      return;
    }
    this.head = head;
    this.left = head.length;
  }

  private readPayload(head: FrameHead, bytes: Buffer, start: number): number {
    const length = Math.min(this.left, bytes.length - start);
    const piece = bytes.subarray(start, start + length);
    this.left -= length;
    const { left } = this;
    if (left === 0) this.head = undefined;
    this.pass(head, piece, left);
    return start + length;
  }

  private pass(head: FrameHead, piece: Buffer, left: number): void {
    if (head.type === frameTypes.data) {
      this.events.onDataPiece(head, piece, left);
      return;
    }
    if (head.type > frameTypes.continuation) return;
    if (piece.length === head.length) {
      this.events.onFrame(head, piece);
      return;
    }
    // Allocated once per frame, not once per piece.
    this.payload ??= Buffer.allocUnsafeSlow(head.length);
    piece.copy(this.payload, head.length - left - piece.length);
    if (left > 0) return;
    const { payload } = this;
    this.payload = undefined;
    this.events.onFrame(head, payload);
  }
}
