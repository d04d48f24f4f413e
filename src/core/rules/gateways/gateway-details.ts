import type { ViewAt } from '../../schema/index.ts';

// Fields of Gateways and GatewayClasses, except for listeners.

export type Address = ViewAt<'Gateway', 'spec.addresses[]'>;

export type Reference = ViewAt<'GatewayClass', 'spec.parametersRef'>;
