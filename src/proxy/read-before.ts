/** Bodies up to this size can go out again. */
const kept = 64 * 1024;

/** What was read of a request's body so far, for another try. */
export class ReadBefore {
  readonly chunks: Buffer[] = [];
  private size = 0;

  /** Whether nothing has been forgotten. */
  get isWhole(): boolean {
    return this.size <= kept;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.isWhole) this.chunks.push(chunk);
    else this.chunks.length = 0;
  }
}
