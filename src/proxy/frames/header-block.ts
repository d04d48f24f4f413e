import { standalone } from '../limits/buffered.ts';
import type { FrameHead } from './frame-reader.ts';
import { ConnectionError, errorCodes, frameFlags } from './protocol.ts';

/** CONTINUATION frames of one header section (CVE-2024-27316). */
const maxContinuations = 8;

/** A complete header section, still encoded. */
export interface WholeBlock {
  readonly stream: number;
  readonly endsStream: boolean;
  /** Whether HEADERS says that the stream depends on itself (RFC 9113 section 5.3.1). */
  readonly dependsOnItself: boolean;
  readonly bytes: Buffer;
}

/** Joins HEADERS and CONTINUATION frames (RFC 9113 sections 4.3, 6.2 and 6.10). */
export class HeaderBlock {
  private readonly maxBytes: number;
  private open: Omit<WholeBlock, 'bytes'> | undefined;
  private fragments: Buffer[] = [];
  private length = 0;

  /** Longer encoded sections end the connection. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The stream whose section is incomplete. */
  get openStream(): number | undefined {
    return this.open?.stream;
  }

  /** Bytes of an incomplete section. */
  get heldBytes(): number {
    return this.length;
  }

  /** Begins a section. Returns it if it is complete. @throws ConnectionError */
  begin({ flags, stream }: FrameHead, payload: Buffer): WholeBlock | undefined {
    const isPadded = (flags & frameFlags.padded) !== 0;
    const hasPriority = (flags & frameFlags.priority) !== 0;
    const padding = isPadded ? (payload[0] ?? 0) : 0;
    const start = (isPadded ? 1 : 0) + (hasPriority ? 5 : 0);
    if (start > payload.length) throw new ConnectionError(errorCodes.frameSizeError, 'HEADERS');
    if (start + padding > payload.length) throw new ConnectionError(errorCodes.protocolError, 'padding');
    const dependency = hasPriority ? payload.readUInt32BE(start - 5) & 0x7fff_ffff : 0;
    this.open = {
      stream,
      endsStream: (flags & frameFlags.endStream) !== 0,
      dependsOnItself: dependency === stream,
    };
    return this.add(flags, payload.subarray(start, payload.length - padding));
  }

  /** Continues the section. Returns it if it is complete. @throws ConnectionError */
  continue({ flags, stream }: FrameHead, payload: Buffer): WholeBlock | undefined {
    if (stream !== this.open?.stream) throw new ConnectionError(errorCodes.protocolError, 'CONTINUATION');
    if (this.fragments.length > maxContinuations)
      throw new ConnectionError(errorCodes.enhanceYourCalm, 'too many CONTINUATION frames');
    return this.add(flags, payload);
  }

  private add(flags: number, fragment: Buffer): WholeBlock | undefined {
    const { open, fragments } = this;
    const isWhole = (flags & frameFlags.endHeaders) !== 0;
    this.length += fragment.length;
    if (this.length > this.maxBytes) throw new ConnectionError(errorCodes.enhanceYourCalm, 'header section');
    if (!isWhole || open === undefined) {
      fragments.push(standalone(fragment));
      return undefined;
    }
    this.open = undefined;
    this.fragments = [];
    this.length = 0;
    return { ...open, bytes: fragments.length === 0 ? fragment : Buffer.concat([...fragments, fragment]) };
  }
}
