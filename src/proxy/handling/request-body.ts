import { Readable } from 'node:stream';
import type { ClientStream } from '../messages/client-stream.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { ActionInTurns } from '../../time/slices.ts';

type BodyLimits = Pick<ProxyLimits, 'stallTimeout' | 'backendStallTimeout'>;

/** Clients can stop sending thousands of bodies at the same moment. */
const stallChecks = new ActionInTurns<() => void>((check) => check());

export interface BodyEvents {
  /** The reader requests the first bytes: the connection to the backend is established. */
  wanted(): void;
  received(chunk: Buffer): void;
  /** `bytes` now wait for the reader, including a new piece of `piece` bytes. */
  waiting(bytes: number, piece: number): void;
  /** The complete body has been received. */
  completed(): void;
  /** The client sent nothing before the timeout while it was expected to. */
  stalled(): void;
  /** The reader took none of the waiting bytes before the timeout. */
  untaken(): void;
  /** An unexpected error. */
  fault(error: unknown): void;
}

/**
 * A request body as a separate stream. Destroying it does not affect the client's connection, unlike destroying the
 * message itself. It reads only on demand and at the reader's speed.
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

  /** `before` is the part that was already read for an earlier try; it comes first. */
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
    // Further bytes are left for a retry, if there is one.
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
      // A completely received body blocks nothing: the client's connection is read again, and its end is detected.
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
    // After a busy period, timers run before the waiting input, so the input is checked first.
    stallChecks.add(() => {
      if (this.destroyed || this.client.isComplete) return;
      // A slow backend is not the client's fault.
      if (this.message.isPaused() || this.bytes !== bytes) this.stallTimer?.refresh();
      else this.events.stalled();
    });
  };
}
