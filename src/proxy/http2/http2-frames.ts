/** Frame types and their numbers in the protocol (RFC 9113 section 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** RFC 9113 section 6.2. */
const endOfHeaders = 4;

/** RFC 9113 sections 3.4 and 4.1. */
const prefaceLength = 24;
const headLength = 9;

/** Called for each frame after its head has arrived. Returns the amount of work for the frame. */
export type OnFrame = (type: number, length: number, flags: number) => number;

/** Finds the frames in a client's HTTP/2 bytes, including the preface, without buffering them. */
export class FrameReader {
  private readonly onFrame: OnFrame;
  /** Bytes before the next frame head. */
  private left = prefaceLength;
  /** A frame head that arrived in pieces. */
  private readonly partial = Buffer.alloc(headLength);
  private held = 0;
  /** Whether the current frame is part of a header section. */
  private isHeaderFrame = false;
  /** Whether the current frame does not end its header section. */
  private hasOpenSection = false;

  constructor(onFrame: OnFrame) {
    this.onFrame = onFrame;
  }

  /** Whether a header section has begun but not ended. */
  get isInHeaderSection(): boolean {
    return this.hasOpenSection || (this.isHeaderFrame && this.left > 0);
  }

  /** Reads all bytes, or up to the end of the frame that reaches `budget`. Returns the number of bytes read and their work. */
  read(bytes: Buffer, budget: number): { readonly length: number; readonly work: number } {
    let position = 0;
    let work = 0;
    while (position < bytes.length && (this.left > 0 || work < budget)) {
      const skipped = Math.min(this.left, bytes.length - position);
      position += skipped;
      this.left -= skipped;
      if (this.left > 0 || position === bytes.length || work >= budget) break;
      const needed = headLength - this.held;
      const has = Math.min(needed, bytes.length - position);
      if (has < headLength) {
        bytes.copy(this.partial, this.held, position, position + has);
        this.held += has;
        position += has;
        if (this.held === headLength) work += this.frame(this.partial, 0);
      } else {
        work += this.frame(bytes, position);
        position += headLength;
      }
    }
    return { length: position, work };
  }

  private frame(bytes: Buffer, at: number): number {
    this.held = 0;
    this.left = bytes.readUIntBE(at, 3);
    const [type = 0, flags = 0] = [bytes[at + 3], bytes[at + 4]];
    this.isHeaderFrame = type === frameTypes.headers || type === frameTypes.continuation;
    this.hasOpenSection = this.isHeaderFrame && (flags & endOfHeaders) === 0;
    return this.onFrame(type, this.left, flags);
  }
}
