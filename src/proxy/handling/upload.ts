import { Buffered, standalone, WatchedInput } from '../limits/buffered.ts';
import { isBorrowed } from '../limits/read-buffer.ts';
import type { ForwardedRequest } from './forwarded-request.ts';
import type { Copy } from './mirror-copy.ts';
import { ReadBefore } from '../listen/read-before.ts';
import { RequestBody } from './request-body.ts';
import type { BodyEvents } from './request-body.ts';

/** The reason why a request body cannot continue. */
export type UploadFailure = 'body-timeout' | 'backend-stalled' | 'overloaded';

/** The body of one request. Sends it to the current endpoint and to mirror copies, and retains it for a retry. */
export class Upload implements BodyEvents {
  private readonly exchange: ForwardedRequest;
  private readonly copies: readonly Copy[];
  private readonly failed: (reason: UploadFailure) => void;
  private readonly readBefore: ReadBefore;
  /** Whether the whole body arrived with the head. Then nothing is read. */
  private readonly isContent: boolean;
  private available: Buffer | undefined;
  /** Unread bytes. */
  private readonly unread: WatchedInput | undefined;
  /** Bytes that were read and wait for the backend. */
  private readonly read: Buffered;
  /** Bytes that wait to be sent to the backend. */
  private readonly unsent: Buffered;
  /** Whether the content counts as received. */
  private isReceived = false;

  /** `held` has already been read. `failed` is called with the reason why the body cannot continue. */
  constructor(
    exchange: ForwardedRequest,
    { copies, held }: { readonly copies: readonly Copy[]; readonly held: readonly Buffer[] },
    failed: (reason: UploadFailure) => void,
  ) {
    const {
      address,
      client,
      plane: { quotas },
    } = exchange;
    this.exchange = exchange;
    this.copies = copies;
    this.failed = failed;
    this.readBefore = new ReadBefore(exchange.plane, address, held);
    this.read = new Buffered(quotas.buffered, address);
    this.unsent = new Buffered(quotas.buffered, address);
    const content = held.length === 0 ? client.takeContent() : undefined;
    this.available = content;
    this.isContent = content !== undefined;
    if (content === undefined)
      this.unread = new WatchedInput(client.body, new Buffered(quotas.buffered, address), () => this.overflow());
    else if (!isBorrowed(content)) this.account(content);
  }

  /**
   * The whole body for one try, if it arrived with the head. It is retained, and accounted for, as long as a try may need it. Unless it
   * is kept, its memory may be used for others after the current event.
   */
  get content(): Buffer | undefined {
    return this.available;
  }

  /** Keeps the content for a later event. */
  keep(): void {
    if (this.available === undefined || !isBorrowed(this.available)) return;
    this.available = standalone(this.available);
    this.account(this.available);
  }

  /** Returns the body as a stream for one try, from its start. `undefined` if the whole body arrived with the head. */
  begin(): RequestBody | undefined {
    if (this.isContent) return undefined;
    return new RequestBody(this.exchange.client, this.exchange.plane.limits, this, this.readBefore.chunks);
  }

  /** The connection to the backend is established. */
  connected(): void {
    if (this.available === undefined || this.isReceived) return;
    this.isReceived = true;
    this.read.update(0);
    // It is sent at once, and no other try may need it.
    if (isBorrowed(this.available)) this.readBefore.forget();
    this.received(this.available);
    if (!this.readBefore.isWhole) this.available = undefined;
    this.completed();
  }

  /** Whether a retry is possible. */
  mayBeginAgain(): boolean {
    if (!this.readBefore.isWhole) this.exchange.plane.counters.limitsReached['retry-body'] += 1;
    return this.readBefore.isWhole;
  }

  /** Drops the retained bytes: there will be no retry. */
  forget(): void {
    this.available = undefined;
    this.readBefore.forget();
  }

  /** The rest of the body is not needed. */
  stop(): void {
    this.unread?.stop();
    this.read.close();
    this.unsent.close();
    this.forget();
  }

  wanted(): void {
    this.exchange.client.continue();
  }

  received(chunk: Buffer): void {
    this.exchange.plane.counters.requestBytes += chunk.length;
    this.readBefore.add(chunk);
    for (const copy of this.copies) copy.add(chunk);
  }

  waiting(bytes: number, piece: number): void {
    this.unread?.taken();
    if (!this.read.update(bytes, piece)) this.overflow();
  }

  readonly sending = (bytes: number, piece: number): void => {
    if (!this.unsent.update(bytes, piece)) this.overflow();
  };

  completed(): void {
    for (const copy of this.copies) copy.end();
  }

  stalled(): void {
    this.failed('body-timeout');
  }

  untaken(): void {
    this.failed('backend-stalled');
  }

  fault(error: unknown): void {
    this.exchange.fault(error);
  }

  /** Accounts for content until the request is sent. The caller is not ready for a failure. */
  private account({ length }: Buffer): void {
    if (!this.read.update(length, length)) process.nextTick(() => this.overflow());
  }

  /** The quota is exceeded: ends this request to protect others. */
  private overflow(): void {
    this.exchange.guard(() => this.failed('overloaded'));
  }
}
