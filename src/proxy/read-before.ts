/** Bodies up to this size can go out again. */
const kept = 64 * 1024;

/** What was read of a request's body so far, for another try. */
export class ReadBefore {
  readonly chunks: Buffer[];
  private readonly limit: number;
  private size: number;

  /** `whole` is a body that is held anyway, whatever its size. */
  constructor(whole: readonly Buffer[] = []) {
    this.chunks = [...whole];
    this.size = whole.reduce((sum, { length }) => sum + length, 0);
    this.limit = Math.max(kept, this.size);
  }

  /** Whether nothing has been forgotten. */
  get isWhole(): boolean {
    return this.size <= this.limit;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.isWhole) this.chunks.push(chunk);
    else this.chunks.length = 0;
  }
}
