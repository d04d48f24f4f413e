import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

// Traces: a data plane reports its decision about one request, connection or datagram that carries a signed, one-time text. A request
// carries it in a header field. The first bytes of a TCP connection and a datagram are `traceBytes`. A TLS connection carries it in the
// name of an ALPN protocol. The controller gives each data plane the key of its own Gateway only. All keys are derived from one secret text.

/** The field of a request with the signature, and of the response with the decision, in lower case. */
export const traceField = 'sallyport-trace';

/** Key of the channel's resource with the key for traces. */
export const traceResourceKey = 'traceKey/trace';

/** The parts of a request that its signature covers. */
export interface TracedRequest {
  readonly method: string;
  /** In lower case, without port. */
  readonly host: string;
  /** Normalized. */
  readonly path: string;
  /** With its question mark, or `''`. */
  readonly search: string;
}

/** The parts of a connection or datagram that its signature covers. */
export interface TracedConnection {
  readonly protocol: 'TLS' | 'TCP' | 'UDP';
  /** The port of the listener. */
  readonly port: number;
  /** The server name of the TLS handshake in lower case; `''` if absent, and for TCP and UDP. */
  readonly serverName: string;
}

/** The decision of a data plane. All members are names or numbers of the configuration. */
export interface TraceReport {
  /** Key of the listener, and the generation of its owner that is in force. */
  readonly listener?: string;
  readonly listenerGeneration?: number;
  /** `HTTPRoute/namespace/name` */
  readonly route?: string;
  readonly routeGeneration?: number;
  readonly rule?: number;
  /** Of a request. */
  readonly match?: number;
  /** `namespace/service/port` */
  readonly backend?: string;
  /** `host:port` of the endpoint that was tried last. */
  readonly upstream?: string;
  /** Why the proxy responded itself, or why no backend gets the connection or datagram. */
  readonly reason?: string;
}

/** A signature that has been read from a trace. */
export interface TraceSignature {
  /** Seconds since 1970. */
  readonly time: number;
  readonly nonce: string;
  readonly mac: string;
}

/**
 * Derives the key of a Gateway.
 *
 * @param secret the text of which all keys are derived
 * @param gateway `namespace/name`
 * @returns the key in hexadecimal
 */
export function traceKeyOf(secret: string, gateway: string): string {
  return createHmac('sha256', secret).update(`sallyport-trace key\n${gateway}`).digest('hex');
}

/**
 * Signs a request, connection or datagram, for one use.
 *
 * @param key the key of the Gateway
 * @param now milliseconds since 1970
 * @returns the value of the field, always of the same length
 */
export function signTrace(key: string, traced: TracedRequest | TracedConnection, now: number): string {
  const time = Math.floor(now / 1000);
  const nonce = randomBytes(16).toString('base64url');
  return `v1.${time}.${nonce}.${macOf(key, traced, { time, nonce })}`;
}

const signature = /^v1\.(?<time>[0-9]{10})\.(?<nonce>[\w-]{22})\.(?<mac>[\w-]{43})$/;
const signatureLength = 80;

/** Reads a signature; `undefined` for any other text. */
export function readTrace(value: string): TraceSignature | undefined {
  const { time, nonce, mac } = signature.exec(value)?.groups ?? {};
  return time === undefined || nonce === undefined || mac === undefined
    ? undefined
    : { time: Number(time), nonce, mac };
}

/** Whether the signature was made with this key for this subject. Takes the same time for every wrong signature. */
export function isSignedTrace(
  key: string,
  traced: TracedRequest | TracedConnection,
  { mac, ...signed }: TraceSignature,
): boolean {
  return isEqual(macOf(key, traced, signed), mac);
}

/** The beginning of the ALPN protocol name of a trace; the signature follows. */
export const traceProtocol = 'sallyport-trace/';

/** The first bytes of a trace of TCP or UDP, and of every answer. The first one occurs in no text, because it is not valid UTF-8. */
export const traceStart = Buffer.from(`\xf5${traceProtocol}`, 'latin1');

/** Length in bytes of a trace of TCP or UDP. */
export const traceLength = traceStart.length + signatureLength;

/** The bytes of a trace of TCP or UDP. */
export function traceBytes(signed: string): Buffer {
  return Buffer.concat([traceStart, Buffer.from(signed)]);
}

/**
 * The answer to a trace of a connection or datagram. It is signed, because it is sent without TLS, and follows bytes of a backend that
 * sends first.
 *
 * @param nonce the one of the trace
 */
export function traceAnswer(key: string, nonce: string, report: TraceReport): Buffer {
  const json = JSON.stringify(report);
  return Buffer.concat([traceStart, Buffer.from(`${answerMac(key, nonce, json)}.${json}\n`)]);
}

const answer = /^(?<mac>[\w-]{43})\.(?<json>\{.*\})\n$/;

/** Reads the answer at the end of the received bytes; `undefined` if there is none, or if its signature is wrong. */
export function readTraceAnswer(key: string, nonce: string, received: Buffer): TraceReport | undefined {
  const start = received.lastIndexOf(traceStart);
  if (start === -1) return undefined;
  const { mac, json } = answer.exec(received.toString('utf8', start + traceStart.length))?.groups ?? {};
  if (mac === undefined || json === undefined || !isEqual(answerMac(key, nonce, json), mac)) return undefined;
  return JSON.parse(json) as TraceReport;
}

function macOf(
  key: string,
  traced: TracedRequest | TracedConnection,
  { time, nonce }: Omit<TraceSignature, 'mac'>,
): string {
  const [purpose, ...parts] =
    'method' in traced
      ? ['sallyport-trace v1', traced.method, traced.host, traced.path, traced.search]
      : ['sallyport-trace connection v1', traced.protocol, traced.port, traced.serverName];
  return hmac(key, [purpose, time, nonce, ...parts]);
}

function answerMac(key: string, nonce: string, json: string): string {
  return hmac(key, ['sallyport-trace answer v1', nonce, json]);
}

function hmac(key: string, lines: readonly (string | number | undefined)[]): string {
  return createHmac('sha256', Buffer.from(key, 'hex')).update(lines.join('\n')).digest('base64url');
}

/** @param one a MAC @param other a text of the same length */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
