import { Agent, request as startRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as startSecureRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../time/clock.ts';
import type { Credentials, TlsProof } from './credentials.ts';
import { connectThrough, readProxy } from './proxy-tunnel.ts';

/** Milliseconds for which credentials are cached. The official client checks token files once a minute. */
const proofLifetime = 10_000;
/** Each of about 25 watches occupies a connection, and requests must never wait for them. */
const connections = 100;
/**
 * Milliseconds after which an unused connection is closed, unless the server announces less (`Keep-Alive: timeout=`): sooner than API
 * servers (90 s) and load balancers in front of them do, so that no request meets a closed one. A handshake costs more than a request.
 */
const idleTimeout = 25_000;
/**
 * Milliseconds of silence after which TCP keepalive probes begin. They detect a lost peer while a watch is quiet. The agent has the same
 * value: otherwise, each request would change the options of its socket twice, with four system calls each.
 */
const keepAliveDelay = 30_000;
/**
 * Bytes that a connection reads ahead while nobody takes its response. With more, a process would wake up for each event of a watch that
 * it pauses. A response that is taken at once is not affected.
 */
const readAhead = 1;

/** Interim responses (1xx) to one request. API servers send none, and proxies in front of them hardly any. */
const mostInterim = 100;

export interface WireRequest {
  /** Path and query, below the path of the server's URL. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Connections and credentials for one request. */
export interface Access {
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  /** The TLS material of the agent. */
  readonly tls: string;
}

/**
 * The connection pool to the API server. It is replaced without closing connections in use when TLS material is renewed. It uses the
 * HTTP client of Node, which the process loads for its servers anyway.
 */
export class Transport {
  private readonly credentials: Credentials;
  private readonly clock: Clock;
  private readonly url: URL;
  private access: Promise<Access> | undefined;
  private provenAt = 0;
  private readonly agents = new Set<Agent>();

  constructor(credentials: Credentials, clock: Clock) {
    this.credentials = credentials;
    this.clock = clock;
    this.url = new URL(credentials.server);
  }

  /**
   * Sends a request. Resolves with the head of the response; its body must be read or destroyed.
   *
   * @throws errors of the connection, the reason of `signal` if that is aborted
   */
  async send(access: Access, { path, method, headers, body, signal }: WireRequest): Promise<IncomingMessage> {
    signal.throwIfAborted();
    const options = {
      agent: access.agent,
      host: this.url.hostname.replace(/^\[|\]$/g, ''),
      port: this.url.port,
      path: this.url.pathname.replace(/\/$/, '') + path,
      method,
      // Node does not add the length to a DELETE.
      headers: {
        ...access.headers,
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    };
    const start = this.url.protocol === 'https:' ? startSecureRequest : startRequest;
    return new Promise((resolve, reject) => {
      const request = start(options, resolve);
      request.on('error', reject);
      // A request that has no connection yet emits no error.
      const abort = (): void => {
        const { reason } = signal as { readonly reason: unknown };
        reject(reason);
        request.destroy(reason instanceof Error ? reason : undefined);
      };
      signal.addEventListener('abort', abort, { once: true });
      request.on('close', () => {
        signal.removeEventListener('abort', abort);
        // A response with another protocol (101) closes the connection without an error.
        reject(new Error('the connection was closed without a response'));
      });
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > mostInterim) request.destroy(new Error('it sent too many interim responses'));
      });
      request.on('socket', (socket) => socket.setKeepAlive(true, keepAliveDelay));
      request.end(body);
    });
  }

  /** Closes all connections. Requests that wait for one fail. */
  close(): void {
    for (const agent of this.agents) {
      const waiting = Object.values(agent.requests).flat() as unknown as readonly ClientRequest[];
      for (const request of waiting) request.destroy();
      agent.destroy();
    }
    this.agents.clear();
  }

  /** Waits until the credentials are loaded. @throws errors of loading them */
  async open(): Promise<Access> {
    if (this.access === undefined || this.clock.now() - this.provenAt > proofLifetime) {
      this.provenAt = this.clock.now();
      const renewing = this.renew(this.access);
      this.access = renewing;
      // Those who wait get the failure, and the next caller tries again.
      renewing.catch(() => {
        if (this.access === renewing) this.access = undefined;
      });
    }
    return this.access;
  }

  private async renew(before: Promise<Access> | undefined): Promise<Access> {
    const { headers, tls } = await this.credentials.prove();
    const former = await before?.catch(() => undefined);
    const material = JSON.stringify(tls);
    if (former?.tls === material) return { ...former, headers };
    // A former pool loses its connections as their requests end.
    for (const agent of this.agents) if (Object.keys(agent.sockets).length === 0) this.agents.delete(agent);
    const agent = createAgent(this.url, tls, this.credentials.proxy);
    this.agents.add(agent);
    return { agent, headers, tls: material };
  }
}

function createAgent(
  { protocol }: URL,
  { ca, cert, key, ...verification }: TlsProof,
  proxy: string | undefined,
): Agent {
  const pool = {
    keepAlive: true,
    keepAliveMsecs: keepAliveDelay,
    maxSockets: connections,
    timeout: idleTimeout,
    highWaterMark: readAhead,
  };
  // One context for all connections: they would each parse the authorities otherwise.
  const agent =
    protocol === 'https:'
      ? new SecureAgent({ ...pool, ...verification, secureContext: createSecureContext({ ca, cert, key }) })
      : new Agent(pool);
  if (proxy !== undefined) agent.createConnection = connectThrough(readProxy(proxy), protocol);
  return agent;
}
