/** Bytes that do not make a whole yet. */
export class Held {
  private bytes: Buffer | undefined;

  /**
   * Adds bytes, and gives what stands before the first `terminator` and what comes behind it; `undefined` while there is
   * none. More than `limit` bytes without it are `too-long`.
   */
  take(bytes: Buffer, terminator: Buffer, limit: number): { readonly text: string; readonly rest: Buffer } | 'too-long' | undefined {
    const before = this.bytes;
    const all = before === undefined ? bytes : Buffer.concat([before, bytes]);
    // What was looked through before is not looked through again, but for a terminator that came in pieces.
    const end = all.indexOf(terminator, Math.max(0, (before?.length ?? 0) - terminator.length + 1));
    this.bytes = end === -1 ? all : undefined;
    if ((end === -1 ? all.length : end) > limit) return 'too-long';
    return end === -1 ? undefined : { text: all.toString('latin1', 0, end), rest: all.subarray(end + terminator.length) };
  }

  /** Whether what is held may become something that begins with `start`. */
  mayBeginWith(start: Buffer): boolean {
    const known = Math.min(this.bytes?.length ?? 0, start.length);
    return this.bytes === undefined || this.bytes.compare(start, 0, known, 0, known) === 0;
  }
}
