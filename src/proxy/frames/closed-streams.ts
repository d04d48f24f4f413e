/** How a stream has ended: `ended` by both sides, or reset by the `peer` or by this `side`. */
export type StreamEnd = 'ended' | 'peer' | 'side';

/** The number of streams that are remembered. Frames in transit belong to the latest ones. */
const remembered = 512;

/** Remembers the latest closed streams of a connection, to judge frames that arrive for them (RFC 9113 section 5.1). */
export class ClosedStreams {
  private readonly ends = new Map<number, StreamEnd>();

  add(stream: number, end: StreamEnd): void {
    this.ends.set(stream, end);
    if (this.ends.size <= remembered) return;
    for (const oldest of this.ends.keys()) {
      this.ends.delete(oldest);
      return;
    }
  }

  /** `undefined` for streams that have never been open, and those that were forgotten. */
  endOf(stream: number): StreamEnd | undefined {
    return this.ends.get(stream);
  }
}
