import type { Duplex, Readable } from 'node:stream';
import type { Fields } from './forwarder.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

/**
 * A request and the means to respond to it, independent of the version of HTTP. Routing and forwarding know nothing
 * else of a client's connection.
 */
export interface ClientStream {
  /** As sent, also for requests with an invalid head. */
  readonly method: string;
  /** Returns the parsed head, or the reason why the request must not be served. Called once: the stream need not keep it. */
  takeHead(): RequestHead | AnswerReason;
  /** The protocol of a supported upgrade request. */
  readonly upgrade: string | undefined;
  /**
   * Switches protocols: responds with these fields and returns the stream of bytes that follows. Throws `Unsendable`
   * before anything is sent.
   */
  switchProtocol(fields: Fields): Duplex;
  /** Starts to flow with its first listener. Destroying it ends more than the request. */
  readonly body: Readable;
  /**
   * Takes the whole body if it has already arrived. Afterwards `body` must not be used. Its memory may be borrowed: whoever keeps it beyond
   * the current event must copy it.
   */
  takeContent(): Buffer | undefined;
  /** Fields after the body, available once it has ended. */
  readonly trailers: Fields;
  /** Whether the complete request has arrived, read or not. */
  readonly isComplete: boolean;
  /** Sends 100 Continue to a client that waits for it (RFC 9110 section 10.1.1). */
  continue(): void;
  /** Forwards an interim response if the client supports it. After `false`, wait for `Exchange.drained`. */
  inform(status: number, fields: Fields): boolean;
  /** Begins the response. Throws `Unsendable` if HTTP cannot carry it; nothing has been sent then. */
  writeHead(status: number, fields: Fields): void;
  readonly headSent: boolean;
  /** The status, after it has been sent. */
  readonly status: number;
  /** Sends the head now if it still waits for the first piece of the body. */
  flushHead(): void;
  /** After `false`, wait for `Exchange.drained`. Ignored if the response has no body. */
  write(chunk: Buffer): boolean;
  /** Like `write`, with a chunk whose memory is used for others after `flushHead` or `end`. Without it, `write` gets a copy. */
  writeBorrowed?(chunk: Buffer): boolean;
  /** Ends the response; invalid trailers are dropped. */
  end(trailers: Fields): void;
  /** Bytes of the response that wait for the client. */
  readonly waitingBytes: number;
  /** Whether the complete response was passed to the connection. */
  readonly isFinished: boolean;
  /** Ends an incomplete response in a way that the client recognizes as incomplete. */
  breakOff(): void;
}
