import { ApiError, messageOf, type Cause } from './errors.ts';
import { isKubernetesObject, type KubernetesObject } from './object.ts';

/** The outcome of a write. `message` is the API server's, for people. */
export type WriteOutcome =
  /** Done, with the resulting object if the server sent it. */
  | { readonly type: 'ok'; readonly object?: KubernetesObject }
  /** Another writer was faster or owns a field: read again, then decide anew. */
  | { readonly type: 'conflict'; readonly message: string }
  /** An object of that name exists already. */
  | { readonly type: 'exists'; readonly message: string }
  /** The object, its kind or its namespace does not exist. */
  | { readonly type: 'notFound'; readonly message: string }
  | { readonly type: 'forbidden'; readonly message: string }
  /** The server rejects the object as invalid, and a retry does not help. An exceeded quota is `forbidden`. */
  | { readonly type: 'invalid'; readonly message: string; readonly causes: readonly Cause[] }
  /** No response, or an overloaded server: the outcome is unknown. `retryAfter` in milliseconds. */
  | { readonly type: 'unavailable'; readonly message: string; readonly retryAfter?: number };

/** Converts an error of the client to an outcome. The reason of an aborted signal is converted as well. */
export function outcomeOf(error: unknown): WriteOutcome {
  const message = messageOf(error);
  if (!(error instanceof ApiError)) return { type: 'unavailable', message };
  if (error.reason === 'AlreadyExists') return { type: 'exists', message };
  switch (error.status) {
    case 409:
      return { type: 'conflict', message };
    case 404:
    case 410:
      return { type: 'notFound', message };
    case 401:
    case 403:
      return { type: 'forbidden', message };
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
      return { type: 'invalid', message, causes: error.causes };
    default:
      return {
        type: 'unavailable',
        message,
        ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
      };
  }
}

/** Returns `success` or `conflict`. Throws for every other outcome, with the message of the API server. */
export function doneOrConflict<Success extends string>(outcome: WriteOutcome, success: Success): Success | 'conflict' {
  if (outcome.type === 'ok') return success;
  if (outcome.type === 'conflict') return 'conflict';
  throw new Error(outcome.message);
}

/** Waits for a write and returns its outcome. Never rejects. */
export async function settle(write: Promise<unknown>): Promise<WriteOutcome> {
  try {
    const object = await write;
    return isKubernetesObject(object) ? { type: 'ok', object } : { type: 'ok' };
  } catch (error) {
    return outcomeOf(error);
  }
}
