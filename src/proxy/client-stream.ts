import type { Duplex, Readable } from 'node:stream';
import type { Fields } from './forwarder.ts';
import type { ProxyLimits } from './limits.ts';
import type { AnswerReason } from './reasons.ts';
import type { RequestHead } from './request-head.ts';

/**
 * A request and the way back to whoever sent it, in any version of HTTP: all that judging and forwarding know of a
 * client's connection. What ends a connection, and how, is its own business.
 */
export interface ClientStream {
  /** As sent, for requests whose head cannot be read too. */
  readonly method: string;
  /** Reads the head, or says why the request must not be served. */
  readHead(limits: ProxyLimits): RequestHead | AnswerReason;
  /** The protocol to which the client asks to switch, where that can be done. */
  readonly upgrade: string | undefined;
  /** Switches: answers with these fields, and gives the bytes that follow in both directions. Throws `Unsendable` before anything is sent. */
  switchProtocol(fields: Fields): Duplex;
  /** Flows once it is listened to; destroying it ends more than the request. */
  readonly body: Readable;
  /** Fields after the body, once it has ended. */
  readonly trailers: Fields;
  /** Whether the whole request has come in, read or not. */
  readonly isComplete: boolean;
  /** Gives leave to send the body to a client that waits for it (RFC 9110 section 10.1.1). */
  continue(): void;
  /** Passes an interim response on where the client can take it. `false` asks to wait for `Exchange.drained`. */
  inform(status: number, fields: Fields): boolean;
  /** Begins the response. Throws `Unsendable` where HTTP cannot carry it, and nothing has been sent then. */
  writeHead(status: number, fields: string[]): void;
  readonly headSent: boolean;
  /** The status sent, once there is one. */
  readonly status: number;
  /** Sends the head off if it still waits for a first piece of the body. */
  flushHead(): void;
  /** `false` asks to wait for `Exchange.drained`. What an answer without a body gets is dropped. */
  write(chunk: Buffer): boolean;
  /** Ends the answer; trailers that cannot be sent are dropped. */
  end(trailers: Fields): void;
  /** Bytes of the answer that wait for the client to take what came before. */
  readonly waitingBytes: number;
  /** Whether the whole answer was handed over to be sent. */
  readonly isFinished: boolean;
  /** Ends an answer that cannot be completed so that the client cannot take it for a whole one. */
  breakOff(): void;
}
