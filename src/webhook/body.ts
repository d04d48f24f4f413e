import type { IncomingMessage } from 'node:http';
import { setImmediate as othersFirst } from 'node:timers/promises';

/** A body as it was received. */
export interface Body {
  readonly chunks: readonly Buffer[];
  /** Whether it must be scanned before it is parsed. Parsing a small body is never slower than that. */
  readonly isLarge: boolean;
}

export interface BodyLimits {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies together that are held at a time, beyond `freeBytes` of each. */
  readonly heldBytes: number;
}

/** Bytes that each body may use regardless of the others, so large reviews never keep small ones out. */
export const freeBytes = 64 * 1024;

/**
 * A body may arrive in some small pieces. Beyond that, its pieces must have this average size: each takes some hundred bytes of memory
 * besides its length. The API server writes 1 KiB or more at a time.
 */
const fewPieces = 1_000;
const averagePiece = 512;

/** The reason why a body was rejected. */
export class BodyRefusal extends Error {
  readonly reason: 'too-large' | 'busy' | 'aborted';

  constructor(reason: BodyRefusal['reason']) {
    super(`the body was rejected: ${reason}`);
    this.reason = reason;
  }
}

/** Bytes of all bodies that are received in a turn of the event loop, and 512 for each piece: decrypting them takes about 2 ms. */
const bytesOfTurn = 512 * 1024;

/** Ends the input of a turn of the event loop. Otherwise all sockets with large bodies are read at length, and probes wait. */
class InputTurns {
  private taken = 0;
  private next: Promise<void> | undefined;

  /** Resolves when the caller may take more. */
  async took(bytes: number): Promise<void> {
    this.taken += bytes;
    if (this.taken < bytesOfTurn) return;
    this.next ??= this.begin();
    await this.next;
  }

  private async begin(): Promise<void> {
    await othersFirst();
    this.taken = 0;
    this.next = undefined;
  }
}

/** The bodies that are being received or reviewed. */
export class Bodies {
  private readonly limits: BodyLimits;
  private readonly input = new InputTurns();
  private heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.limits = limits;
  }

  /** Bytes held beyond the free bytes of each body. */
  get held(): number {
    return this.heldBytes;
  }

  /**
   * Receives a body. Does not process its bytes, since many bodies may arrive at the same time. The bytes count until
   * `release`.
   *
   * @throws BodyRefusal
   */
  async receive(request: IncomingMessage): Promise<{ readonly body: Body; readonly release: () => void }> {
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    const release = (): void => {
      this.heldBytes -= counted;
      counted = 0;
    };
    try {
      if (Number(request.headers['content-length'] ?? 0) > this.limits.bodyBytes) throw new BodyRefusal('too-large');
      // The response to a rejected body still uses the connection.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        const isFragmented = chunks.length > fewPieces && size < chunks.length * averagePiece;
        if (size > this.limits.bodyBytes || isFragmented) throw new BodyRefusal('too-large');
        const beyond = Math.max(0, size - freeBytes);
        this.heldBytes += beyond - counted;
        counted = beyond;
        if (beyond > 0 && this.heldBytes > this.limits.heldBytes) throw new BodyRefusal('busy');
        chunks.push(chunk);
        await this.input.took(chunk.length + averagePiece);
      }
    } catch (error) {
      release();
      throw error instanceof BodyRefusal ? error : new BodyRefusal('aborted');
    }
    return { body: { chunks, isLarge: size > freeBytes }, release };
  }
}
