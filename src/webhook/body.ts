import type { IncomingMessage } from 'node:http';
import { BodyQuota, type BodyOwner } from './body-quota.ts';
import { ReadingTurns } from './reading-turns.ts';
import { searchedBytes, userIn } from './user.ts';

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

/** A body that arrived. Its bytes count until `release`. */
export interface ReceivedBody {
  readonly body: Body;
  /** Who asks, as far as the body shows it. */
  readonly user: string;
  readonly release: () => void;
}

/** The bodies that are being received or reviewed. */
export class Bodies {
  private readonly limits: BodyLimits;
  private readonly input = new ReadingTurns();
  /** Bytes beyond the free bytes of each body. */
  private readonly quota: BodyQuota;

  constructor(limits: BodyLimits) {
    this.limits = limits;
    this.quota = new BodyQuota(limits.heldBytes);
  }

  /** Bytes held beyond the free bytes of each body. */
  get held(): number {
    return this.quota.used;
  }

  /**
   * Receives a body from a client with this address. Does not process its bytes, since many bodies may arrive at the same time. The bytes count until
   * `release`. Rejects with a BodyRefusal, and then leaves the rest of the body unread.
   */
  receive(request: IncomingMessage, client: string): Promise<ReceivedBody> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let counted = 0;
      let isOver = false;
      let owner: BodyOwner = { client, user: '' };
      let isUserRead = false;
      /** Reads the user before bytes of the body count. */
      const readUser = (): void => {
        if (isUserRead) return;
        isUserRead = true;
        owner = { client, user: userIn(chunks) };
      };
      const release = (): void => {
        if (counted > 0) this.quota.release(owner, counted);
        counted = 0;
      };
      const refuse = (reason: BodyRefusal['reason']): void => {
        if (isOver) return;
        isOver = true;
        // The response to a rejected body still uses the connection. What was read already is not kept.
        this.input.end(request.socket);
        release();
        reject(new BodyRefusal(reason));
      };
      const abort = (): void => refuse('aborted');
      if (Number(request.headers['content-length'] ?? 0) > this.limits.bodyBytes) return refuse('too-large');
      request.on('data', (chunk: Buffer) => {
        if (isOver) return;
        size += chunk.length;
        const isFragmented = chunks.length > fewPieces && size < chunks.length * averagePiece;
        if (size > this.limits.bodyBytes || isFragmented) return refuse('too-large');
        chunks.push(chunk);
        if (size >= searchedBytes) readUser();
        const beyond = Math.max(0, size - freeBytes);
        if (beyond > counted && !this.quota.take(owner, beyond - counted)) return refuse('busy');
        counted = beyond;
        this.input.take(chunk.length + averagePiece, request.socket, [client, owner.user]);
      });
      request.on('end', () => {
        if (isOver) return;
        isOver = true;
        readUser();
        resolve({ body: { chunks, isLarge: size > freeBytes }, user: owner.user, release });
      });
      request.on('error', abort);
      request.on('close', abort);
    });
  }
}
