import { demand, specificationRule } from '../engine/demand.ts';

export const tracingMissing = specificationRule({
  id: 'tracing-missing',
  summary: 'An XTelemetryPolicy asks for nothing.',
  source: 'Gateway API v1.7.0, TelemetryPolicySpec (at least one of its fields)',
});

export const hasTracing = demand(tracingMissing, function judge({ tracing }: { readonly tracing?: object }, report) {
  if (tracing === undefined) report({ below: ['tracing'], message: 'Without tracing this policy asks for nothing. Write tracing, e.g. with mode: Disabled.' });
});
