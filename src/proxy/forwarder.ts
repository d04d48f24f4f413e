import type { Duplex, Readable } from 'node:stream';
import type { Fields } from '../core/text/fields.ts';
import type { UpstreamTls } from './backend-tls.ts';

export type { Fields };

/** Where connections lead, and how they are made. They are shared by all requests that name the same object. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** HTTP/2 from the first byte, without TLS. */
  readonly protocol?: 'h2c';
  readonly tls?: UpstreamTls;
}

export interface UpstreamRequest {
  /** The address of the client, whose share of the connections it takes. */
  readonly client: string;
  readonly upstream: Upstream;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** End-to-end fields, Host and Content-Length among them; the connection's own are the engine's business. */
  readonly fields: string[];
  /** Read only once a connection stands. Without Content-Length it is sent chunked. */
  readonly body: Readable | undefined;
  /** Told how many bytes of it wait to be sent, and how many have just been added. */
  readonly sending?: (waiting: number, piece: number) => void;
  /** What follows the body, asked for at its end; HTTP/1.1 carries it only where it is announced. */
  readonly trailers?: () => Fields;
  readonly announcesTrailers?: boolean;
  /** The request means nothing in HTTP/1 (gRPC): it goes over HTTP/2 even where nobody said that this is spoken. */
  readonly needsHttp2?: boolean;
  /** The protocol to switch the connection to; the request has no body then. Over HTTP/2 a WebSocket alone can be had. */
  readonly upgrade?: string | undefined;
}

/** The head of a backend's answer. */
export interface UpstreamHead {
  readonly status: number;
  readonly fields: Fields;
  /** In which the answer came, whatever the connection is capable of. */
  readonly httpVersion: '1.0' | '1.1' | '2.0';
}

/**
 * How far a failed request came. `connect`: nothing was sent, another endpoint may be tried. `reset`: the connection
 * broke. `stale`: a connection that had rested broke before a byte of an answer; most likely the backend was just closing
 * it, but that is not certain. `protocol`: what came back is no HTTP. `refused`: the backend did nothing about it and says so.
 * `busy`: nothing was sent, because too many requests wait for a connection, or this one has waited too long.
 * `upgrade`: nothing was sent, because connections to this backend cannot switch to the protocol asked for. `overflow`: there is no room
 * for what came and cannot be handed on.
 */
export type UpstreamFailure = 'connect' | 'reset' | 'stale' | 'protocol' | 'refused' | 'busy' | 'upgrade' | 'overflow';

/**
 * What becomes of a forwarded request; called in the order of this list. `onEnd`, `onSwitch` or `onFailure` comes last,
 * once.
 */
export interface ResponseReceiver {
  /** A connection stands and the request is going out: from here on the backend may act on it. */
  onConnected(): void;
  /** An interim answer (1xx), any number of times. */
  onInformation(status: number, fields: Fields): void;
  onHead(head: UpstreamHead): void;
  onData(chunk: Buffer): void;
  onEnd(trailers: Fields): void;
  /** The protocol was switched as asked for (101, in HTTP/2 2xx); the connection, or its stream, belongs to the receiver now. */
  onSwitch?(head: UpstreamHead, connection: Duplex): void;
  onFailure(failure: UpstreamFailure): void;
}

/** A forwarded request under way. All three do nothing once it has ended. */
export interface UpstreamExchange {
  /** Gives the request up and its connection with it; the receiver hears nothing more. */
  abort(): void;
  /** Stops and resumes `onData`; a few chunks may still come after a pause. */
  pause(): void;
  resume(): void;
}

/** The engine that carries requests to endpoints and answers back: the one place that knows an HTTP client. */
export interface Forwarder {
  forward(request: UpstreamRequest, receiver: ResponseReceiver): UpstreamExchange;
  /** No further request goes there: its connections close when those under way have ended. */
  release(upstream: Upstream): void;
  /** Ends everything at once. */
  close(): Promise<void>;
}
