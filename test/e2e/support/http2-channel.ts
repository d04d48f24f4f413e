import { connect, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { patience, type Destination } from './client.ts';

/** A connection, and what its server has said about its end. */
interface Connection {
  readonly session: ClientHttp2Session;
  /** The last stream that the server takes (RFC 9113 section 6.8); none that it has not named. */
  lastStream: number;
}

/**
 * HTTP/2 to one destination over one connection, which is made when it is needed: by prior knowledge, or over TLS by ALPN. After
 * GOAWAY it ends with what is under way on it. New requests go over another one, and so does what the server did not take.
 */
export class Http2Channel {
  private readonly destination: Destination;
  private connection: Connection | undefined;

  constructor(destination: Destination) {
    this.destination = destination;
  }

  /**
   * Begins a request and talks on its stream. Where the server has said by GOAWAY that it did not look at it, all of that happens once
   * more on another connection.
   *
   * @param talk rejects where no whole answer came
   */
  async request<T>(headers: OutgoingHttpHeaders, talk: (stream: ClientHttp2Stream) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = this.current();
      const stream = connection.session.request(
        { ':authority': this.destination.host, ':path': '/', ...headers },
        { endStream: false },
      );
      try {
        return await talk(stream);
      } catch (error) {
        if ((stream.id ?? Infinity) <= connection.lastStream) throw error;
      } finally {
        // Whoever listens no longer wants no more.
        if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
      }
    }
  }

  /** Ends the connection with what is under way on it. */
  close(): void {
    this.connection?.session.close();
  }

  private current(): Connection {
    const standing = this.connection;
    if (standing !== undefined && !standing.session.closed && !standing.session.destroyed) return standing;
    const session = connect(`https://${this.destination.host}`, {
      createConnection: () => openSocket(this.destination),
    });
    const connection: Connection = { session, lastStream: Infinity };
    // Its streams tell of it.
    session.on('error', () => undefined);
    session.on('goaway', (_code, lastStream) => (connection.lastStream = Math.min(lastStream, connection.lastStream)));
    this.connection = connection;
    return connection;
  }
}

function openSocket({ address, port, host, authorities }: Destination): Socket {
  if (authorities === undefined) return connectTcp({ host: address, port, noDelay: true });
  return connectTls({ host: address, port, servername: host, secureContext: authorities, ALPNProtocols: ['h2'] });
}

export interface Http2Answer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  readonly trailers: Readonly<Record<string, unknown>>;
}

/** Breaks a stream off where it goes on for longer than clients wait, in milliseconds. Gives the same stream. */
export function inTime(stream: ClientHttp2Stream, time = patience): ClientHttp2Stream {
  const timer = setTimeout(() => stream.destroy(new Error('no whole answer within the time that clients wait')), time);
  return stream.once('close', () => clearTimeout(timer));
}

/** Takes the whole answer on a stream; fails where it breaks off. */
export function wholeAnswer(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [headers, trailers, cause]: [Http2Answer['headers'], Http2Answer['trailers'], Error | undefined] = [
      {},
      {},
      undefined,
    ];
    stream.on('response', (fields) => (headers = fields));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('trailers', (fields) => (trailers = fields));
    stream.on('error', (error) => (cause = error));
    stream.on('close', () => {
      // A connection that is gone ends its streams, too.
      if (cause === undefined && stream.rstCode === constants.NGHTTP2_NO_ERROR && headers[':status'] !== undefined)
        resolve({ headers, body: Buffer.concat(chunks), trailers });
      else
        reject(
          new Error(`stream broken off with code ${stream.rstCode}${cause === undefined ? '' : `: ${cause.message}`}`),
        );
    });
  });
}
