import { Buffered } from '../../limits/buffered.ts';
import type { SharedQuota } from '../../../fairness/shared-quota.ts';

/** A message that is held for authorization, as far as it has arrived. Its bytes and pieces count against the quota. */
export class HeldMessage {
  /** Number of bytes. */
  length = 0;
  private held: Buffer[] = [];
  /** Memory of the head. */
  private headBytes = 0;
  private readonly buffered: Buffered;

  constructor(quota: SharedQuota, client: string) {
    this.buffered = new Buffered(quota, client);
  }

  get pieces(): readonly Buffer[] {
    return this.held;
  }

  /** Counts the memory of the head in bytes. Returns `false` if the quota is exceeded. */
  addHead(bytes: number): boolean {
    this.headBytes = bytes;
    return this.buffered.update(this.headBytes + this.length, bytes);
  }

  /** Adds a piece. Returns `false` if the quota is exceeded. */
  add(piece: Buffer): boolean {
    this.length += piece.length;
    this.held.push(piece);
    return this.buffered.update(this.headBytes + this.length, piece.length);
  }

  /** Drops the head and all pieces. */
  clear(): void {
    this.replace(0);
  }

  /** Drops the head and all pieces, and counts what was made of them in bytes. Returns `false` if the quota is exceeded. */
  replace(bytes: number): boolean {
    this.length = 0;
    this.headBytes = 0;
    this.held = [];
    return this.buffered.update(bytes, bytes);
  }

  /** Releases the quota. The pieces stay valid for others. */
  close(): void {
    this.buffered.close();
  }
}
