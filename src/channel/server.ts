import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ofQualifiedName } from '../core/resources/reference.ts';
import { limitPieces } from '../core/text/pieces.ts';
import { beginHandshakesInTurns } from '../handshakes/in-turns.ts';
import type { Logger } from '../telemetry/index.ts';
import { hasAnnouncedBundles } from './bundles.ts';
import { GatewayShares, type GatewayShare, type ShareLimits } from './gateway-shares.ts';
import { keepAlive } from './heartbeat.ts';
import { compactLineOf, lineOf } from './lines.ts';
import type { ToProxy } from './messages.ts';
import { inSlices } from './outbox.ts';
import { Pace } from './pace.ts';
import type { ConfigurationSource } from './source.ts';
import { Visitors, type VisitorLimits } from './visitors.ts';
import { channelPath, fields, longestLines, parseToController, ProtocolError, readLines, type Line } from './wire.ts';

/** The serving certificate of the channel, now and after each renewal. */
export interface ServingCertificate {
  /** PEM. */
  current(): { readonly certificate: string; readonly privateKey: string };
  /** Calls `listener` after each change. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** The identity that a proxy claims, and its proof. */
export interface Claim {
  /** `namespace/name`. */
  readonly gateway: string;
  /** The ServiceAccount token, a secret. */
  readonly token: string;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly certificate: ServingCertificate;
  /** Whether the token belongs to a proxy of the Gateway. May reject if this cannot be determined; the proxy then retries. */
  readonly authenticate: (claim: Claim) => Promise<boolean>;
  /** The configuration of a Gateway; `undefined` if it is not served here. Its `states` name proxies by their pods. */
  readonly sourceOf: (gateway: string) => ConfigurationSource | undefined;
  readonly log: Logger;
  readonly limits?: Partial<ServeLimits>;
}

export interface ServeLimits extends ShareLimits, VisitorLimits {
  /** Milliseconds between heartbeats. */
  readonly heartbeat: number;
  /** Milliseconds from the connection until its stream is accepted. */
  readonly admission: number;
  /** Milliseconds until the first message, the hello, is complete, and from the beginning of each other message until its end. */
  readonly message: number;
  /** Milliseconds after which a proxy must reconnect and authenticate again. */
  readonly age: number;
  /** Bytes that may be queued for a slow proxy before it is disconnected at the next message. It resumes by content when it reconnects. */
  readonly backlog: number;
  /** Concurrent connections. */
  readonly connections: number;
}

const defaultLimits: ServeLimits = {
  heartbeat: 10_000,
  admission: 10_000,
  message: 30_000,
  age: 3_600_000,
  backlog: 64 * 2 ** 20,
  // Those that have authenticated, those that have not, and as many that are being closed.
  connections: 2_560,
  pending: 256,
  reviews: 32,
  perGateway: 1_024,
  // Each takes 0.1 MiB.
  authenticated: 2_048,
  received: 32 * 2 ** 20,
  allReceived: 48 * 2 ** 20,
  queued: 128 * 2 ** 20,
  allQueued: 160 * 2 ** 20,
};

/** ServiceAccount tokens have one or two KiB. Longer tokens are not sent to the API server. */
const longestToken = 8 * 1024;

export interface ChannelServer {
  readonly port: number;
  /** Open connections, and those whose proxy has authenticated. */
  connections(): { readonly open: number; readonly authenticated: number };
  /** Ends all streams. Proxies connect elsewhere and lose nothing. */
  close(): Promise<void>;
}

/**
 * Serves configuration to proxies over TLS and HTTP/2. Each proxy has one long-lived stream, opened by POST, with lines
 * of JSON in both directions (`ToProxy`, `ToController`). Responds with 401 if the token does not belong to the
 * Gateway, with 404 if the Gateway is not served, with 429 if it or its namespace has too many connections, and with 503 if the token
 * cannot be reviewed now.
 *
 * @throws the errors of `listen`, e.g. EADDRINUSE
 */
export async function serveChannel(options: ServeOptions): Promise<ChannelServer> {
  const { certificate, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const server = createSecureServer({
    ...secureContext(certificate),
    allowHTTP1: false,
    handshakeTimeout: limits.admission,
    settings: { maxConcurrentStreams: 1 },
  });
  server.maxConnections = limits.connections;
  const visitors = new Visitors(limits);
  const shares = new GatewayShares(limits);
  beginHandshakesInTurns(server, limits.admission);
  server.on('connection', (socket) => visitors.add(socket));
  server.on('session', (session) => superviseSession(session, { options, limits, visitors, shares }));
  server.on('tlsClientError', (error) =>
    log.debug({ problem: error.message }, 'a TLS handshake on the configuration channel failed'),
  );
  server.on('sessionError', (error) =>
    log.debug({ problem: error.message }, 'a connection of the configuration channel broke'),
  );
  const stopFollowing = certificate.onChange(() => server.setSecureContext(secureContext(certificate)));
  const port = await listen(server, options);
  return {
    port,
    connections: () => visitors.counts(),
    async close() {
      stopFollowing();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      visitors.destroy();
      await closed;
    },
  };
}

function secureContext(certificate: ServingCertificate): {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2';
} {
  const { certificate: cert, privateKey: key } = certificate.current();
  return { cert, key, minVersion: 'TLSv1.2' };
}

async function listen(server: Http2SecureServer, { host, port }: ServeOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

interface Serving {
  readonly options: ServeOptions;
  readonly limits: ServeLimits;
  readonly visitors: Visitors;
  readonly shares: GatewayShares;
}

/** One connection. */
interface Visit extends Serving {
  /** The address of the client. */
  readonly client: string;
  readonly onAdmitted: () => void;
}

function superviseSession(session: ServerHttp2Session, serving: Serving): void {
  const { heartbeat, admission, age } = serving.limits;
  const { visitors } = serving;
  // A session that has ended does not know it any more.
  const client = session.socket.remoteAddress ?? '';
  keepAlive(session, heartbeat);
  let expiry = setTimeout(() => session.destroy(), admission);
  session.once('close', () => clearTimeout(expiry));
  const onAdmitted = (): void => {
    clearTimeout(expiry);
    if (session.destroyed) return;
    visitors.authenticated(session);
    // Jitter: the proxies of one rollout connected at the same time.
    expiry = setTimeout(() => session.destroy(), age * (0.8 + 0.2 * Math.random()));
  };
  session.once('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy());
    limitPieces(stream, () => {
      serving.options.log.debug('a connection of the configuration channel sent too many small frames');
      session.destroy();
    });
    // A connection carries one stream and ends with it.
    stream.once('close', () => session.close());
    void serveStream(stream, headers, { ...serving, client, onAdmitted });
  });
}

/** Never rejects. */
async function serveStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, serving: Visit): Promise<void> {
  const admitted = await admit(stream, headers, serving);
  if (admitted === undefined || stream.destroyed || stream.closed) return;
  const share = serving.shares.enter(admitted.gateway, () => stream.session?.destroy());
  if (share === undefined) return refuse(stream, constants.HTTP_STATUS_TOO_MANY_REQUESTS);
  try {
    serving.onAdmitted();
    await serveProxy(stream, { ...admitted, share }, serving);
  } finally {
    share.leave();
  }
}

interface Admitted {
  readonly gateway: string;
  readonly proxy: string;
  readonly source: ConfigurationSource;
}

/** Authorizes a request: rejects it, or returns the source of its Gateway. */
async function admit(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { options, visitors, client }: Visit,
): Promise<Admitted | undefined> {
  if (headers[':path'] !== channelPath) return refuse(stream, constants.HTTP_STATUS_NOT_FOUND);
  if (headers[':method'] !== 'POST') return refuse(stream, constants.HTTP_STATUS_METHOD_NOT_ALLOWED);
  const gateway = headers[fields.gateway];
  const token = /^Bearer ([\x21-\x7e]+)$/.exec(headers.authorization ?? '')?.[1];
  if (typeof gateway !== 'string' || token === undefined || token.length > longestToken)
    return refuse(stream, constants.HTTP_STATUS_UNAUTHORIZED);
  try {
    const reviewed = await visitors.review(client, () => options.authenticate({ gateway, token }));
    if (reviewed === 'busy') return refuse(stream, constants.HTTP_STATUS_SERVICE_UNAVAILABLE);
    if (!reviewed) return refuse(stream, constants.HTTP_STATUS_UNAUTHORIZED);
  } catch (err) {
    options.log.warn({ err }, 'cannot validate the token of a proxy');
    return refuse(stream, constants.HTTP_STATUS_SERVICE_UNAVAILABLE);
  }
  const source = options.sourceOf(gateway);
  return source === undefined
    ? refuse(stream, constants.HTTP_STATUS_NOT_FOUND)
    : { gateway, proxy: nameOf(headers[fields.proxy]), source };
}

function refuse(stream: ServerHttp2Stream, status: number): undefined {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ':status': status }, { endStream: true });
  stream.resume();
}

/** The name appears in statuses and logs. */
function nameOf(field: string | readonly string[] | undefined): string {
  return typeof field === 'string' && /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/i.test(field) ? field : 'unnamed';
}

async function serveProxy(
  stream: ServerHttp2Stream,
  { gateway, proxy, source, share }: Admitted & { readonly share: GatewayShare },
  { options: { log }, limits }: Serving,
): Promise<void> {
  stream.respond({ ':status': constants.HTTP_STATUS_OK, 'content-type': 'application/x-ndjson' });
  const outbox = inSlices(stream);
  const isSlow = (): void => {
    log.warn({ gateway, proxy, bytes: outbox.writableLength }, 'a proxy is too slow and must reconnect');
    // A proxy that reads nothing would not even get a reset, and its queue would stay.
    stream.session?.destroy();
  };
  const owner = ofQualifiedName(gateway).namespace;
  const queued = { owner, held: () => (stream.closed ? 0 : outbox.writableLength), end: isSlow };
  let encode = lineOf;
  const send = (message: ToProxy): void => {
    if (stream.closed || stream.destroyed || outbox.writableEnded) return;
    // The end mark belongs to the transaction before it: a proxy that reconnects would get both again.
    if (message.type !== 'end' && outbox.writableLength > limits.backlog) isSlow();
    else {
      outbox.write(encode(message));
      share.queued.count(queued);
    }
  };
  const peer = source.connect(proxy, send, () => outbox.end());
  log.info({ gateway, proxy }, 'proxy connected');
  let problem: string | undefined;
  let heldBytes = 0;
  const received = {
    owner,
    held: () => (stream.destroyed ? 0 : heldBytes),
    end: () => {
      problem =
        'the data planes of this Gateway or namespace have too many bytes of incomplete or unprocessed messages';
      stream.session?.destroy();
    },
  };
  const deadline = new Deadline(limits.message, () => {
    problem = `a message was not complete within ${limits.message} ms`;
    stream.session?.destroy();
  });
  const onHeld = (bytes: number): void => {
    heldBytes = bytes;
    if (bytes > 0) deadline.begin();
    if (!stream.destroyed) share.received.count(received);
  };
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  let isGreeted = false;
  // A function of its own, so that no message stays in memory during the pause after it.
  const take = async (line: Line): Promise<void> => {
    const message = parseToController(line.take());
    if (message?.type === 'hello') {
      // Each hello gets the whole configuration.
      if (isGreeted) throw new ProtocolError('a stream has two hellos');
      isGreeted = true;
      if (hasAnnouncedBundles(message)) encode = compactLineOf;
    }
    if (message !== undefined) await peer.receive(message);
  };
  try {
    const pace = new Pace();
    deadline.begin();
    for await (const line of readLines(stream, longestLines.toController, onHeld)) {
      deadline.end();
      await share.work.take(() => take(line), gone.signal);
      await pace.wait(line.length);
    }
  } catch (error) {
    // All other errors that end a stream are network errors.
    if (error instanceof ProtocolError) problem = error.message;
  } finally {
    deadline.end();
    peer.close();
    stream.destroy();
    share.received.remove(received);
    share.queued.remove(queued);
    log.info({ gateway, proxy, problem }, 'proxy disconnected');
  }
}

/** The time in which something must end once it has begun. */
class Deadline {
  private readonly milliseconds: number;
  private readonly missed: () => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, missed: () => void) {
    this.milliseconds = milliseconds;
    this.missed = missed;
  }

  /** Does nothing if it has begun already. */
  begin(): void {
    this.timer ??= setTimeout(this.missed, this.milliseconds);
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
