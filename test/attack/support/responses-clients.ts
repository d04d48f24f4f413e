import { Agent, request as startRequest } from 'node:http';
import { connect, constants } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { tagOf } from './responses-grammar.ts';
import { gatewayHost } from './target.ts';

/** Milliseconds without a byte after which a client leaves a tunnel. The backend may keep it open, and the proxy's limit is ten minutes. */
const tunnelSilence = 1_000;

/** What a client got for one request. */
export interface Outcome {
  /** Whether the response looks whole to the client. */
  readonly isComplete: boolean;
  /** Whether the proxy answered on its own account. */
  readonly isOwn: boolean;
  readonly body: string;
  /** Each x-tag in heads, interim heads and trailers. */
  readonly tags: readonly string[];
  /** What a client in HTTP/2 found malformed. */
  readonly malformed?: string;
}

/** Clients of a proxy that share connections, as browsers and sidecars do. */
export class Clients {
  private readonly port: number;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 48 });
  private readonly sessions: ClientHttp2Session[] = [];
  readonly sessionErrors: string[] = [];

  constructor(port: number) {
    this.port = port;
  }

  close(): void {
    this.agent.destroy();
    for (const session of this.sessions) session.destroy();
  }

  /** A request in HTTP/1.1; with content, its tag. */
  http1(host: string, id: number, kind: 'get' | 'post' | 'upgrade'): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const tags: string[] = [];
    let body = '';
    let isOwn = false;
    const finish = (isComplete: boolean): void => resolve({ isComplete, isOwn, body, tags });
    const upgrade =
      kind === 'upgrade'
        ? {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
            'sec-websocket-version': '13',
          }
        : {};
    const sent = startRequest({
      host: gatewayHost,
      port: this.port,
      path: `/${id}`,
      method: kind === 'post' ? 'POST' : 'GET',
      agent: kind === 'upgrade' ? false : this.agent,
      headers: { host, ...upgrade },
    });
    sent.on('error', () => finish(false)).on('information', ({ headers }) => take(tags, headers['x-tag']));
    sent.on('upgrade', (response, socket, head) => {
      take(tags, response.headers['x-tag']);
      body += head.toString('latin1');
      socket
        .setTimeout(tunnelSilence, () => socket.destroy())
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
        .on('end', () => socket.end())
        .on('close', () => finish(false));
    });
    sent.on('response', (response) => {
      take(tags, response.headers['x-tag']);
      isOwn = response.headers['server'] === 'sallyport';
      response.on('data', (chunk: Buffer) => (body += chunk.toString('latin1'))).on('error', () => finish(false));
      response
        .on('end', () => {
          take(tags, response.trailers['x-tag']);
          finish(response.complete);
        })
        .on('close', () => finish(false));
    });
    sent.end(kind === 'post' ? tagOf(id) : undefined);
    return promise;
  }

  /** A request in HTTP/2. */
  http2(authority: string, id: number, kind: 'get' | 'call' | 'websocket'): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const tags: string[] = [];
    let body = '';
    let isOwn = false;
    let hasEnded = false;
    const fields = {
      get: { ':path': `/${id}` },
      call: { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc', te: 'trailers' },
      websocket: {
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'http',
        ':path': `/${id}`,
        'sec-websocket-version': '13',
      },
    }[kind];
    const stream = this.session(id).request({ ':authority': authority, ...fields }, { endStream: kind === 'get' });
    stream
      .on('error', () => undefined)
      .on('headers', (head) => take(tags, head['x-tag']))
      .on('trailers', (head) => take(tags, head['x-tag']));
    stream.on('response', (head) => {
      take(tags, head['x-tag']);
      isOwn = head['server'] === 'sallyport';
    });
    stream.on('data', (chunk: Buffer) => (body += chunk.toString('latin1'))).on('end', () => (hasEnded = true));
    stream.on('close', () => {
      const { rstCode } = stream;
      resolve({
        isComplete: hasEnded && rstCode === 0,
        isOwn,
        body,
        tags,
        ...(rstCode === 1 ? { malformed: `request ${id}` } : {}),
      });
    });
    if (kind === 'call') stream.end(tagOf(id));
    // A tunnel lives for as long as both ends do.
    if (kind === 'websocket')
      stream.on('end', () => stream.end()).setTimeout(tunnelSilence, () => stream.close(constants.NGHTTP2_CANCEL));
    return promise;
  }

  private session(id: number): ClientHttp2Session {
    const place = id % 4;
    const standing = this.sessions[place];
    if (standing !== undefined && !standing.closed && !standing.destroyed) return standing;
    const session = connect(`http://${gatewayHost}:${this.port}`);
    session.on('error', (error) => this.sessionErrors.push(String(error)));
    this.sessions[place] = session;
    return session;
  }
}

function take(tags: string[], value: string | readonly string[] | undefined): void {
  for (const one of [value ?? []].flat()) tags.push(...one.split(', '));
}
