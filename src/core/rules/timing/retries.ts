// Timeouts and retries that probably have another effect than intended.

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
