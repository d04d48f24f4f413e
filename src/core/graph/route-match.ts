/** A match of a route's rule, with everything filled in and in the form in which requests are compared with it. */
export interface RouteMatch {
  /** Position in spec.rules[].matches. */
  readonly index: number;
  readonly path: { readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value: string };
  /** Of a GRPCRoute: how many characters of service and method it names. Precedence goes by these, not by the path. */
  readonly call?: { readonly service: number; readonly method: number };
  readonly method?: string;
  /** Names in lower case; already freed of repetitions. */
  readonly headers: readonly NamedMatch[];
  /** Names as written: they are case-sensitive. */
  readonly query: readonly NamedMatch[];
}

export type StringMatchType = 'Exact' | 'RegularExpression';

export interface NamedMatch {
  readonly name: string;
  readonly type: StringMatchType;
  readonly value: string;
}
