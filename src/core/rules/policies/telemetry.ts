import type { ViewAt } from '../../schema/index.ts';

// Fields of XTelemetryPolicies.

export type Attribute = ViewAt<'XTelemetryPolicy', 'spec.tracing.attributes[]'>;

export type Tracing = ViewAt<'XTelemetryPolicy', 'spec.tracing'>;
