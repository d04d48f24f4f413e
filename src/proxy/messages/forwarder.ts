import type { Duplex, Readable } from 'node:stream';
import type { Fields } from '../../core/text/fields.ts';
import type { BackendTls, EndpointsConfig } from '../../core/routing/config.ts';
import type { CertificatePair } from '../listen/identities.ts';

/** TLS settings of connections to a backend (BackendTLSPolicy; Gateway.spec.tls.backend). */
export interface UpstreamTls extends BackendTls {
  /** The client certificate. */
  readonly client?: CertificatePair;
}

export type { Fields };

/** The address and settings of backend connections. All requests with the same object share its connections. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  readonly protocol?: EndpointsConfig['protocol'];
  readonly tls?: UpstreamTls;
}

export interface UpstreamRequest {
  /** The client's address, whose share of the connections the request uses. */
  readonly client: string;
  readonly upstream: Upstream;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** End-to-end fields, including Host and Content-Length. The engine adds connection-specific fields. */
  readonly fields: Fields;
  /** Read only after the connection is established. Without Content-Length it is sent chunked. */
  readonly body: Readable | undefined;
  /**
   * The whole body, if it is already available; `body` is undefined then. The engine clears it after sending, to free the memory. If it
   * does not do so before `forward` returns, the content may be replaced by a copy.
   */
  content?: Buffer | undefined;
  /** Called with the number of body bytes that wait to be sent, and the number just added. */
  readonly sending?: ((waiting: number, piece: number) => void) | undefined;
  /** Trailers, requested at the end of the body. HTTP/1.1 carries them only if they are announced. */
  readonly trailers?: (() => Fields) | undefined;
  readonly announcesTrailers?: boolean;
  /** The request requires HTTP/2 (gRPC), even if the backend does not declare it. */
  readonly needsHttp2?: boolean;
  /** An earlier try was `stale`. Over HTTP/1.1, the request is sent on a connection that has carried no other. */
  readonly needsNewConnection?: boolean;
  /** The protocol to switch to; the request then has no body. HTTP/2 supports only WebSockets. */
  readonly upgrade?: string | undefined;
}

/** The head of a backend's response. */
export interface UpstreamHead {
  readonly status: number;
  readonly fields: Fields;
  /** The version of the response, regardless of the connection's capabilities. */
  readonly httpVersion: '1.0' | '1.1' | '2.0';
  /** The fields that a client last got for this head, if the connection may receive the head again. */
  forwarded?: ForwardedHead | undefined;
}

/** The fields of a response for the client. */
export interface ClientFields {
  readonly fields: Fields;
  /** Whether trailers may follow. */
  readonly trailersPossible: boolean;
}

/** Fields for a client, and everything that determines them besides the head. */
interface ForwardedHead {
  readonly made: ClientFields;
  readonly backend: object;
  readonly hasBody: boolean;
  readonly httpVersion: string;
  /** Whether the fields were sent again. */
  isRepeated: boolean;
}

/**
 * How far a failed request got.
 *
 * - `connect`: nothing was sent; another endpoint may be tried.
 * - `reset`: the connection broke.
 * - `stale`: an idle connection broke before the first byte of a response. The backend was probably closing it, but
 *   that is not certain.
 * - `protocol`: the response is not valid HTTP.
 * - `refused`: the backend has not processed the request, and says so.
 * - `busy`: nothing was sent, because too many requests wait for a connection, or this one has waited too long.
 * - `upgrade`: nothing was sent, because connections to this backend cannot switch to the requested protocol.
 * - `overflow`: the buffer for received data that cannot be forwarded yet is full.
 */
export type UpstreamFailure = 'connect' | 'reset' | 'stale' | 'protocol' | 'refused' | 'busy' | 'upgrade' | 'overflow';

/** Receives the events of a forwarded request, in the order of this list. `onEnd`, `onSwitch` or `onFailure` is called once, and only `settled` may follow. */
export interface ResponseReceiver {
  /** The connection is established and the request is being sent. From now on the backend may act on it. */
  onConnected(): void;
  /** An interim response (1xx), any number of times. */
  onInformation(status: number, fields: Fields): void;
  onHead(head: UpstreamHead): void;
  onData(chunk: Buffer): void;
  /** Like `onData`, with a chunk whose memory is used for others after `settled`. Without it, `onData` gets a copy. */
  onBorrowed?(chunk: Buffer): void;
  onEnd(trailers: Fields): void;
  /** Everything that has arrived so far was passed on. Called after heads and data, also after the end. */
  settled?(): void;
  /** The protocol was switched as requested (101, in HTTP/2 2xx). The receiver now owns the connection or stream. */
  onSwitch?(head: UpstreamHead, connection: Duplex): void;
  onFailure(failure: UpstreamFailure): void;
}

/** A forwarded request in progress. All methods do nothing after it has ended. */
export interface UpstreamExchange {
  /** Aborts the request and its connection. The receiver gets no further calls. */
  abort(): void;
  /** Pauses and resumes `onData`; a few chunks may still arrive after a pause. */
  pause(): void;
  resume(): void;
}

/** Forwards requests to endpoints and returns their responses. The only place that uses an HTTP client. */
export interface Forwarder {
  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange;
  /** Sends no further request to the upstream. Its connections close after their current requests. */
  release(upstream: Upstream): void;
  /** Ends all requests and connections immediately. */
  close(): Promise<void>;
}
