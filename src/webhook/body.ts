import type { IncomingMessage } from 'node:http';

/** A body as it came. */
export interface Body {
  readonly chunks: readonly Buffer[];
  /** Whether it has to be looked at before it is read. Whatever a small body holds, reading it takes no longer. */
  readonly isLarge: boolean;
}

export interface BodyLimits {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies together that are held at one time, beyond `freeBytes` of each. */
  readonly heldBytes: number;
}

/** Each body has room for so many bytes, whatever others hold: large reviews never keep small ones out. */
export const freeBytes = 64 * 1024;

/** Why a body was not taken. */
export class BodyRefusal extends Error {
  readonly reason: 'too-large' | 'busy' | 'aborted';

  constructor(reason: BodyRefusal['reason']) {
    super(`the body was not taken: ${reason}`);
    this.reason = reason;
  }
}

/** The bodies that are being received or judged. */
export class Bodies {
  readonly #limits: BodyLimits;
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes held beyond what each body has room for anyway. */
  get held(): number {
    return this.#held;
  }

  /**
   * Receives a body. Nothing is done with its bytes, since many may arrive at a time. They count until `release`.
   *
   * @throws BodyRefusal
   */
  async receive(request: IncomingMessage): Promise<{ readonly body: Body; readonly release: () => void }> {
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    const release = (): void => {
      this.#held -= counted;
      counted = 0;
    };
    try {
      if (Number(request.headers['content-length'] ?? 0) > this.#limits.bodyBytes) throw new BodyRefusal('too-large');
      // The answer still goes out over the connection of a body that is not taken.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.#limits.bodyBytes) throw new BodyRefusal('too-large');
        const beyond = Math.max(0, size - freeBytes);
        this.#held += beyond - counted;
        counted = beyond;
        if (beyond > 0 && this.#held > this.#limits.heldBytes) throw new BodyRefusal('busy');
        chunks.push(chunk);
      }
    } catch (error) {
      release();
      throw error instanceof BodyRefusal ? error : new BodyRefusal('aborted');
    }
    return { body: { chunks, isLarge: size > freeBytes }, release };
  }
}
