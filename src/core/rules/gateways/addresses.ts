import type { ViewAt } from '../../schema/index.ts';

export type Address = ViewAt<'Gateway', 'spec.addresses[]'>;
