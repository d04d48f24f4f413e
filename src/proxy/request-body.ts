import { Readable } from 'node:stream';
import type { ClientStream } from './client-stream.ts';
import type { ProxyLimits } from './limits.ts';

type BodyLimits = Pick<ProxyLimits, 'stallTimeout' | 'backendStallTimeout'>;

export interface BodyEvents {
  /** The first bytes are asked for: a connection to the backend stands. */
  wanted(): void;
  received(chunk: Buffer): void;
  /** So many bytes wait for the reader now, with a piece of so many that has just come. */
  waiting(bytes: number, piece: number): void;
  /** The body has been received as a whole. */
  completed(): void;
  /** The client sent nothing for too long while it was asked to. */
  stalled(): void;
  /** Whoever reads the body took nothing for too long of what waits for it. */
  untaken(): void;
  /** An error that nobody foresaw. */
  fault(error: unknown): void;
}

/**
 * A request's body as a stream of its own: whoever reads it may destroy it without harm to the client's connection,
 * which the message itself would take along. Nothing is read before it is asked for, and no faster.
 */
export class RequestBody extends Readable {
  private readonly client: ClientStream;
  private readonly message: Readable;
  private readonly events: BodyEvents;
  private readonly limits: BodyLimits;
  private readonly before: Buffer[];
  private bytes = 0;
  private stallTimer: NodeJS.Timeout | undefined;
  /** Runs while the client has to wait for the reader. */
  private takeTimer: NodeJS.Timeout | undefined;

  /** `before` is what was read of it already, for an earlier try; it comes first. */
  constructor(client: ClientStream, limits: BodyLimits, events: BodyEvents, before: readonly Buffer[] = []) {
    super();
    this.client = client;
    this.message = client.body;
    this.limits = limits;
    this.events = events;
    this.before = [...before];
  }

  override _read(): void {
    const earlier = this.before.shift();
    if (earlier !== undefined) {
      this.push(earlier);
      return;
    }
    if (this.message.readableEnded) {
      this.push(null);
      return;
    }
    if (this.stallTimer === undefined) this.attach();
    clearTimeout(this.takeTimer);
    this.stallTimer?.refresh();
    this.events.waiting(this.readableLength, 0);
    this.message.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.detach();
    // What comes now is for another try, if there is one.
    this.message.pause();
    done(error);
  }

  private attach(): void {
    this.stallTimer = setTimeout(this.checkStall, this.limits.stallTimeout).unref();
    this.message.on('data', this.receive).on('end', this.complete);
    this.events.wanted();
  }

  private detach(): void {
    clearTimeout(this.stallTimer);
    clearTimeout(this.takeTimer);
    this.message.off('data', this.receive).off('end', this.complete);
  }

  private readonly receive = (chunk: Buffer): void => {
    this.stallTimer?.refresh();
    this.bytes += chunk.length;
    try {
      this.events.received(chunk);
      if (!this.push(chunk)) this.waitForReader();
      this.events.waiting(this.readableLength, chunk.length);
    } catch (error) {
      this.events.fault(error);
    }
  };

  private waitForReader(): void {
    this.message.pause();
    clearTimeout(this.takeTimer);
    this.takeTimer = setTimeout(this.giveUpReader, this.limits.backendStallTimeout).unref();
  }

  private readonly giveUpReader = (): void => {
    try {
      // One that has been received as a whole holds nobody: the client's connection is read again, and its end is seen.
      if (!this.destroyed && !this.client.isComplete) this.events.untaken();
    } catch (error) {
      this.events.fault(error);
    }
  };

  private readonly complete = (): void => {
    this.detach();
    try {
      this.events.completed();
      this.push(null);
    } catch (error) {
      this.events.fault(error);
    }
  };

  private readonly checkStall = (): void => {
    const { bytes } = this;
    // After a busy spell timers come before the input that has been waiting: that is looked at first.
    setImmediate(() => {
      if (this.destroyed || this.client.isComplete) return;
      // While the backend is the slow one, the client is not to blame.
      if (this.message.isPaused() || this.bytes !== bytes) this.stallTimer?.refresh();
      else this.events.stalled();
    });
  };
}
