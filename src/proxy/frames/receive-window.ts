/** The window that a peer has for the body of a message (RFC 9113 section 5.2). */
export class ReceiveWindow {
  private readonly size: number;
  private left: number;
  /** Bytes that have arrived, and those that the peer may send again. */
  private arrived = 0;
  private credited = 0;

  constructor(size: number) {
    this.size = size;
    this.left = size;
  }

  /** A frame begins. Returns `false` if it is larger than the window. */
  take(length: number): boolean {
    this.left -= length;
    return this.left >= 0;
  }

  /** Bytes of a frame have arrived, including padding. */
  add(length: number): void {
    this.arrived += length;
  }

  /** Returns the bytes to add to the window of the peer, 0 while most of it is left. `unread` bytes still wait. */
  credit(unread: number): number {
    const bytes = this.arrived - unread - this.credited;
    if (bytes < this.size / 2) return 0;
    this.credited += bytes;
    this.left += bytes;
    return bytes;
  }
}
