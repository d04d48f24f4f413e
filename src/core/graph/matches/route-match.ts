/** A match of a route's rule with defaults, in the normalized form in which requests are compared. */
export interface RouteMatch {
  /** Position in spec.rules[].matches. */
  readonly index: number;
  readonly path: { readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value: string };
  /** For GRPCRoutes: the number of characters of service and method, which determine precedence instead of the path. */
  readonly call?: { readonly service: number; readonly method: number };
  readonly method?: string;
  /** Names are in lower case, without duplicates. */
  readonly headers: readonly NamedMatch[];
  /** Names are as written, because they are case-sensitive. */
  readonly query: readonly NamedMatch[];
}

export type StringMatchType = 'Exact' | 'RegularExpression';

export interface NamedMatch {
  readonly name: string;
  readonly type: StringMatchType;
  readonly value: string;
}
