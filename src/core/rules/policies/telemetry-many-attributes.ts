import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Attribute } from './telemetry.ts';

/** The default attribute limit of spans in OpenTelemetry. */
const usualAttributes = 128;

export const telemetryManyAttributes = unenforcedRule(
  {
    id: 'telemetry-many-attributes',
    summary: 'A policy adds more attributes than a span can have.',
    effect: warned,
    source:
      'OpenTelemetry Specification, "Span Limits" (AttributeCountLimit 128); Gateway API v1.7.0, Tracing.attributes (without limit)',
  },
  function judge(attributes: readonly Attribute[], report) {
    if (attributes.length <= usualAttributes) return;
    report({
      below: [usualAttributes],
      value: String(attributes.length),
      message: `Too many attributes: there are ${attributes.length}, and a span has at most ${usualAttributes} by default. The others are dropped. Remove attributes that you do not need.`,
    });
  },
);
