import { Buffered, standalone } from './buffered.ts';
import type { DataPlane } from './data-plane.ts';

/** Bodies up to this size can go out again. */
const kept = 64 * 1024;

/** What was read of a request's body so far, for another try. */
export class ReadBefore {
  readonly chunks: Buffer[];
  private readonly buffered: Buffered;
  private readonly limit: number;
  private size: number;
  private isForgotten = false;

  /** `held` is the beginning of a body that is kept anyway, whatever its size. What comes behind it counts as bytes that wait for this client. */
  constructor({ limits, quotas }: Pick<DataPlane, 'limits' | 'quotas'>, client: string, held: readonly Buffer[]) {
    this.buffered = new Buffered(quotas.buffered, client, limits.bufferedBytes / 2);
    this.chunks = [...held];
    this.size = held.reduce((sum, { length }) => sum + length, 0);
    this.limit = Math.max(kept, this.size);
  }

  /** Whether nothing has been forgotten. */
  get isWhole(): boolean {
    return !this.isForgotten;
  }

  /** Keeps a piece, unless the body is too long or there is no room for it: then it is forgotten as a whole. */
  add(chunk: Buffer): void {
    if (this.isForgotten) return;
    this.size += chunk.length;
    if (this.size > this.limit || !this.buffered.update(this.size, chunk.length)) this.forget();
    else this.chunks.push(standalone(chunk));
  }

  /** There will be no other try. */
  forget(): void {
    this.isForgotten = true;
    this.chunks.length = 0;
    this.buffered.close();
  }
}
