import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Attribute } from './telemetry.ts';

/** The most that spans may have by default in OpenTelemetry. */
const usualAttributes = 128;

export const telemetryManyAttributes = unenforcedRule({
  id: 'telemetry-many-attributes',
  summary: 'A trace gets more attributes than spans hold.',
  effect: warned,
  source: 'OpenTelemetry Specification, "Span Limits" (AttributeCountLimit 128); Gateway API v1.7.0, Tracing.attributes (without limit)',
}, function judge(attributes: readonly Attribute[], report) {
  if (attributes.length <= usualAttributes) return;
  report({ below: [usualAttributes], value: String(attributes.length), message: `There are ${attributes.length} attributes, but a span holds ${usualAttributes} by default; the others are lost. Keep those that somebody looks for.` });
});
