import type { ViewAt } from '../../schema/index.ts';

// Values of CORS filters.

export type Cors = ViewAt<'HTTPRoute', 'spec.rules[].filters[].cors'>;
