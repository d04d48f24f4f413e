import { printable } from '../core/text/display.ts';
import { recordOf, recordsOf } from '../core/text/record.ts';

/** The API server responded with an error status. */
export class ApiError extends Error {
  /** The HTTP status, e.g. 409. */
  readonly status: number;
  /** The reason in the Status object: `Conflict`, `AlreadyExists`, `Expired` …; `Unknown` if it is missing. */
  readonly reason: string;
  /** Milliseconds to wait before a retry, as the server requests. */
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

/** Whether the API server reports that the object or the kind does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404;
}

/** Whether the API server reports that the credentials lack a permission. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** Returns the result of a request, or `undefined` if the API server reports that there is none. Rethrows other errors. */
export async function unlessNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Failure {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfter: number | undefined;
  readonly causes: readonly Cause[];
}

/** A problem with one field of an object that was sent. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** No complete response arrived: no connection, or a timeout. Whether a write took effect is unknown. */
export class ConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectionError';
  }
}

/** The response does not follow the protocol of an API server. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/**
 * Creates the error for an error response.
 *
 * @param status the HTTP status
 * @param body the parsed JSON body, usually a Status object; any other value is tolerated
 * @param retryAfter the Retry-After header: whole seconds, as API servers send them
 */
export function apiError(status: number, body: unknown, retryAfter?: string): ApiError {
  const json = recordOf(body);
  const details = recordOf(json['details']);
  return new ApiError({
    status,
    reason: text(json['reason']) ?? reasons.get(status) ?? 'Unknown',
    message: text(json['message']) ?? `the API server answered ${status}`,
    retryAfter: seconds(retryAfter) ?? seconds(details['retryAfterSeconds']),
    causes: recordsOf(details['causes']).map(causeOf),
  });
}

const reasons: ReadonlyMap<number, string> = new Map([
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
]);

/**
 * Seconds. API servers that are busy ask for at most 32 (`maxRetryAfter` of API priority and fairness). Something in front of them may ask for
 * hours, in which objects would become out of date.
 */
const longestRetryAfter = 32;

function seconds(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && count > 0 ? Math.min(count, longestRetryAfter) * 1000 : undefined;
}

function causeOf(cause: Readonly<Record<string, unknown>>): Cause {
  return {
    reason: text(cause['reason']) ?? '',
    message: text(cause['message']) ?? '',
    field: text(cause['field']) ?? '',
  };
}

/** Characters. Longer than the messages of API servers; those of other webhooks may have any length. */
const longestText = 4096;

/** The text goes to terminals, logs and statuses, so it must not control or fill them. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? printable(value, longestText) : undefined;
}

/** A response is longer than this process reads. */
export class ResponseTooLongError extends ProtocolError {
  /** @param what such as `a response of more than 5 characters` */
  constructor(what: string) {
    super(`the API server sent ${what}`);
    this.name = 'ResponseTooLongError';
  }
}

/** The message for people of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
