import { ApiError, messageOf, type Cause } from './errors.ts';
import { isKubernetesObject, type KubernetesObject } from './object.ts';

/** What became of a write. `message` is the API server's, for people. */
export type WriteOutcome =
  /** Done; the object as it is now, where the server sent it. */
  | { readonly type: 'ok'; readonly object?: KubernetesObject }
  /** Somebody else was quicker, or owns a field: read again, then decide anew. */
  | { readonly type: 'conflict'; readonly message: string }
  /** There is one of that name. */
  | { readonly type: 'exists'; readonly message: string }
  /** The object is gone, or its kind or namespace. */
  | { readonly type: 'notFound'; readonly message: string }
  | { readonly type: 'forbidden'; readonly message: string }
  /** The server will not take it, however often it is sent: schema, admission, quota is `forbidden`. */
  | { readonly type: 'invalid'; readonly message: string; readonly causes: readonly Cause[] }
  /** No answer, or a busy server: whether it was done is not known. `retryAfter` in milliseconds. */
  | { readonly type: 'unavailable'; readonly message: string; readonly retryAfter?: number };

/** Turns a failure of the client into its outcome. The reason of an aborted signal is a failure like others. */
export function outcomeOf(error: unknown): WriteOutcome {
  const message = messageOf(error);
  if (!(error instanceof ApiError)) return { type: 'unavailable', message };
  if (error.reason === 'AlreadyExists') return { type: 'exists', message };
  switch (error.status) {
    case 409: return { type: 'conflict', message };
    case 404: case 410: return { type: 'notFound', message };
    case 401: case 403: return { type: 'forbidden', message };
    case 400: case 405: case 413: case 415: case 422: return { type: 'invalid', message, causes: error.causes };
    default: return { type: 'unavailable', message, ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }) };
  }
}

/** `success` or `conflict`. Throws for every other outcome, with the message of the API server. */
export function doneOrConflict<Success extends string>(outcome: WriteOutcome, success: Success): Success | 'conflict' {
  if (outcome.type === 'ok') return success;
  if (outcome.type === 'conflict') return 'conflict';
  throw new Error(outcome.message);
}

/** Waits for a write and tells what became of it. Never rejects. */
export async function settle(write: Promise<unknown>): Promise<WriteOutcome> {
  try {
    const object = await write;
    return isKubernetesObject(object) ? { type: 'ok', object } : { type: 'ok' };
  } catch (error) {
    return outcomeOf(error);
  }
}
