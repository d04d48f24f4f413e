import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Tracing } from './telemetry.ts';
import { tracingMode } from '../../semantics/intended.ts';

export const tracingWithoutEffect = unenforcedRule(
  {
    id: 'tracing-without-effect',
    summary: 'An XTelemetryPolicy has no effect.',
    effect: recorded,
    source: 'Gateway API v1.7.0, Tracing.mode and .samplingRate',
  },
  function judge(tracing: Tracing, report) {
    const { samplingRate } = tracing;
    const mode = tracingMode(tracing);
    if (mode === 'ImplementationDefault')
      report({
        below: ['mode'],
        value: mode,
        message:
          'mode: ImplementationDefault has no effect: tracing stays as it is without this policy. Use mode: Enabled with provider, or mode: Disabled.',
      });
    if (samplingRate?.numerator === 0)
      report({
        below: ['samplingRate', 'numerator'],
        value: '0',
        message: 'Sampling rate 0 traces no requests. Use a rate above 0, or mode: Disabled.',
      });
  },
);
