import { parseDuration } from '../../text/duration.ts';

// Timeouts and retries that say something else than was probably meant.

export interface Timeouts {
  readonly request?: string;
  readonly backendRequest?: string;
}

export interface Retry {
  readonly attempts?: number;
  readonly backoff?: string;
  readonly codes?: readonly number[];
}

export interface RouteRule {
  readonly timeouts?: Timeouts;
  readonly retry?: Retry;
  readonly matches?: readonly { readonly method?: string }[];
  readonly filters?: readonly { readonly type?: string }[];
  readonly backendRefs?: readonly unknown[];
}

/** A text that is no duration is the concern of another rule. */
export function milliseconds(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed?.ok === true ? parsed.milliseconds : undefined;
}
