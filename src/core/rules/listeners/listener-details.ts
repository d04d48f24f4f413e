import type { ViewAt } from '../../schema/index.ts';

// Listener fields without effect, or with an unexpected one.

export type Reference = ViewAt<'Gateway', 'spec.listeners[].tls.certificateRefs[]'>;

export type Listener = ViewAt<'Gateway', 'spec.listeners[]'>;
