import { Duplex } from 'node:stream';
import { cancel } from '../sockets/reset.ts';
import type { ResettableStream } from '../sockets/reset.ts';

type Done = (error?: Error | null) => void;

/** The stream below a tunnel. */
export interface TunnelCarrier {
  /** There is room for more received bytes. */
  wanted(): void;
  /** Sends bytes. Returns `false` if `drained` follows. */
  send(chunk: Buffer): boolean;
  /** Ends the direction to the peer. `finished` follows. */
  finish(): void;
  /** Resets the stream, unless it is closed. */
  reset(code: number): void;
}

/** The bytes of a stream that carries a WebSocket (RFC 8441 section 5), in both directions. */
export class Http2Tunnel extends Duplex implements ResettableStream {
  /** The error code of a reset. */
  rstCode: number | undefined;
  /** Whether the peer has reset the stream, or its connection is lost. */
  aborted = false;
  private readonly carrier: TunnelCarrier;
  private pending: Done | undefined;
  private ending: Done | undefined;

  constructor(carrier: TunnelCarrier) {
    super({ allowHalfOpen: true });
    this.carrier = carrier;
  }

  /** The peer can take more. */
  drained(): void {
    const { pending } = this;
    this.pending = undefined;
    pending?.();
  }

  /** The end was passed to the connection. */
  finished(): void {
    this.drained();
    const { ending } = this;
    this.ending = undefined;
    ending?.();
  }

  /** The stream was reset by the peer or with its connection. */
  abort(code: number): void {
    this.aborted = true;
    this.rstCode = code;
    this.destroy();
  }

  /** Resets the stream. */
  close(code: number): void {
    this.rstCode = code;
    this.destroy();
  }

  override _read(): void {
    this.carrier.wanted();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.carrier.send(chunk)) done();
    else this.pending = done;
  }

  override _final(done: Done): void {
    this.ending = done;
    this.carrier.finish();
  }

  override _destroy(error: Error | null, done: Done): void {
    const isWhole = this.readableEnded && this.writableFinished;
    if (!this.aborted && !isWhole) this.carrier.reset(this.rstCode ?? cancel);
    done(error);
  }
}
