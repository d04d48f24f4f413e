import { Buffered, standalone } from '../limits/buffered.ts';
import type { DataPlane } from '../data-plane.ts';

/** Maximum size of a body that can be sent again. */
const kept = 64 * 1024;

/** The bytes of a request body read so far, retained for a retry. */
export class ReadBefore {
  readonly chunks: Buffer[];
  private readonly buffered: Buffered;
  private readonly limit: number;
  private size: number;
  private isForgotten = false;

  /**
   * `held` is the beginning of a body that is retained in any case, regardless of its size. Further bytes count as
   * buffered for this client.
   */
  constructor({ limits, quotas }: Pick<DataPlane, 'limits' | 'quotas'>, client: string, held: readonly Buffer[]) {
    this.buffered = new Buffered(quotas.buffered, client, limits.bufferedBytes / 2);
    this.chunks = [...held];
    this.size = held.reduce((sum, { length }) => sum + length, 0);
    this.limit = Math.max(kept, this.size);
  }

  /** Whether all bytes so far are retained. */
  get isWhole(): boolean {
    return !this.isForgotten;
  }

  /** Retains a piece. If the body is too long or the quota is exceeded, drops all of it. */
  add(chunk: Buffer): void {
    if (this.isForgotten) return;
    this.size += chunk.length;
    if (this.size > this.limit || !this.buffered.update(this.size, chunk.length)) this.forget();
    else this.chunks.push(standalone(chunk));
  }

  /** Drops all bytes: there will be no retry. */
  forget(): void {
    this.isForgotten = true;
    this.chunks.length = 0;
    this.buffered.close();
  }
}
