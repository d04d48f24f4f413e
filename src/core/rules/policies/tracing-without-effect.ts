import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Tracing } from './telemetry.ts';

export const tracingWithoutEffect = unenforcedRule({
  id: 'tracing-without-effect',
  summary: 'An XTelemetryPolicy changes nothing.',
  effect: recorded,
  source: 'Gateway API v1.7.0, Tracing.mode and .samplingRate',
}, function judge({ mode = 'ImplementationDefault', samplingRate }: Tracing, report) {
  if (mode === 'ImplementationDefault') report({ below: ['mode'], value: mode, message: 'mode: ImplementationDefault leaves tracing as it is without this policy. Write mode: Enabled with provider, or mode: Disabled.' });
  if (samplingRate?.numerator === 0) report({ below: ['samplingRate', 'numerator'], value: '0', message: 'A sampling rate of 0 traces no request. Write a rate above 0, or mode: Disabled.' });
});
