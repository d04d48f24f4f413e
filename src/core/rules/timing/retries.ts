import type { ViewAt } from '../../schema/index.ts';

// Timeouts and retries that probably have another effect than intended.

export type Timeouts = ViewAt<'HTTPRoute', 'spec.rules[].timeouts'>;

export type Retry = ViewAt<'HTTPRoute', 'spec.rules[].retry'>;

export type RouteRule = ViewAt<'HTTPRoute', 'spec.rules[]'>;
