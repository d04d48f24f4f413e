import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const tracingMissing = specificationRule({
  id: 'tracing-missing',
  summary: 'An XTelemetryPolicy has no tracing.',
  source: 'Gateway API v1.7.0, TelemetryPolicySpec (at least one of its fields)',
});

export const hasTracing = demand(
  tracingMissing,
  function judge({ tracing }: ViewAt<'XTelemetryPolicy', 'spec'>, report) {
    if (tracing === undefined)
      report({
        below: ['tracing'],
        message:
          'tracing is required: without it, the policy has no effect. Set tracing, for example with mode: Disabled.',
      });
  },
);
