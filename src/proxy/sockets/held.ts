import { standalone } from '../limits/buffered.ts';

/** Bytes of an incomplete block. */
export class Held {
  private bytes: Buffer | undefined;

  /**
   * Adds bytes. Returns the text before the first `terminator` and the rest after it; `undefined` if there is none yet;
   * `too-long` for more than `limit` bytes without it.
   */
  take(
    bytes: Buffer,
    terminator: Buffer,
    limit: number,
  ): { readonly text: string; readonly rest: Buffer } | 'too-long' | undefined {
    const before = this.bytes;
    const all = before === undefined ? bytes : Buffer.concat([before, bytes]);
    // Earlier bytes are not searched again, except for a terminator that arrived in pieces.
    const end = all.indexOf(terminator, Math.max(0, (before?.length ?? 0) - terminator.length + 1));
    this.bytes = end === -1 ? standalone(all) : undefined;
    if ((end === -1 ? all.length : end) > limit) return 'too-long';
    return end === -1
      ? undefined
      : { text: all.toString('latin1', 0, end), rest: all.subarray(end + terminator.length) };
  }

  get length(): number {
    return this.bytes?.length ?? 0;
  }

  get isEmpty(): boolean {
    return this.bytes === undefined;
  }

  /** Whether the held bytes may become text that begins with `start`. */
  mayBeginWith(start: Buffer): boolean {
    const known = Math.min(this.bytes?.length ?? 0, start.length);
    return this.bytes === undefined || this.bytes.compare(start, 0, known, 0, known) === 0;
  }
}
