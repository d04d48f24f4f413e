import { isRecord } from '../core/text/record.ts';


/** The API server answered, with something else than success. */
export class ApiError extends Error {
  /** The HTTP status, e.g. 409. */
  readonly status: number;
  /** What the server calls it: `Conflict`, `AlreadyExists`, `Expired` …; `Unknown` where it does not say. */
  readonly reason: string;
  /** Milliseconds after which the server wants to be asked again. */
  readonly retryAfter: number | undefined;
  readonly causes: readonly Cause[];

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'ApiError';
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfter = failure.retryAfter;
    this.causes = failure.causes;
  }
}

interface Failure {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfter: number | undefined;
  readonly causes: readonly Cause[];
}

/** What is wrong with one field of an object that was sent. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** No answer came: no connection, no end in time. Whether a write took effect is unknown. */
export class ConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectionError';
  }
}

/** What came is no answer that an API server gives. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/**
 * Reads the failure in an answer.
 *
 * @param status the HTTP status
 * @param body the answer's JSON, a Status object as a rule; anything else is survived
 * @param retryAfter the Retry-After field: whole seconds are what API servers send
 */
export function apiError(status: number, body: unknown, retryAfter?: string): ApiError {
  const json = isRecord(body) ? body : {};
  const details = isRecord(json['details']) ? json['details'] : {};
  return new ApiError({
    status,
    reason: text(json['reason']) ?? reasons.get(status) ?? 'Unknown',
    message: text(json['message']) ?? `the API server answered ${status}`,
    retryAfter: seconds(retryAfter) ?? seconds(details['retryAfterSeconds']),
    causes: Array.isArray(details['causes']) ? details['causes'].filter(isRecord).map(causeOf) : [],
  });
}

const reasons: ReadonlyMap<number, string> = new Map([
  [401, 'Unauthorized'], [403, 'Forbidden'], [404, 'NotFound'], [409, 'Conflict'], [410, 'Expired'], [422, 'Invalid'], [429, 'TooManyRequests'],
]);

const longestRetryAfter = 300;

function seconds(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && count > 0 ? Math.min(count, longestRetryAfter) * 1000 : undefined;
}

function causeOf(cause: Readonly<Record<string, unknown>>): Cause {
  return { reason: text(cause['reason']) ?? '', message: text(cause['message']) ?? '', field: text(cause['field']) ?? '' };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What to tell people about any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
