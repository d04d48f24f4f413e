import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

// Traces: a request with a signed, one-time header field, to which a data plane adds its decision. The controller gives each data
// plane the key of its own Gateway only. All keys are derived from one secret text.

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

/** A signature that has been read from a field. */
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
 * Signs a request, for one use.
 *
 * @param key the key of the Gateway
 * @param now milliseconds since 1970
 * @returns the value of the field
 */
export function signTrace(key: string, request: TracedRequest, now: number): string {
  const time = Math.floor(now / 1000);
  const nonce = randomBytes(16).toString('base64url');
  return `v1.${time}.${nonce}.${macOf(key, request, { time, nonce })}`;
}

const signature = /^v1\.(?<time>[0-9]{10})\.(?<nonce>[\w-]{22})\.(?<mac>[\w-]{43})$/;

/** Reads the value of a field; `undefined` for any other text. */
export function readTrace(value: string): TraceSignature | undefined {
  const { time, nonce, mac } = signature.exec(value)?.groups ?? {};
  return time === undefined || nonce === undefined || mac === undefined
    ? undefined
    : { time: Number(time), nonce, mac };
}

/** Whether the signature was made with this key for this request. Takes the same time for every wrong signature. */
export function isSignedTrace(key: string, request: TracedRequest, signed: TraceSignature): boolean {
  return timingSafeEqual(Buffer.from(macOf(key, request, signed)), Buffer.from(signed.mac));
}

function macOf(
  key: string,
  { method, host, path, search }: TracedRequest,
  { time, nonce }: Omit<TraceSignature, 'mac'>,
): string {
  const text = ['sallyport-trace v1', time, nonce, method, host, path, search].join('\n');
  return createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64url');
}
