import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (count: number): unknown =>
  objectOf('XTelemetryPolicy', 'v1alpha1', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front' }],
    tracing: {
      mode: 'Enabled',
      provider: { backendRef: { name: 'traces', port: 4317 } },
      attributes: Array.from({ length: count }, (_, index) => ({
        name: `a${index}`,
        sourceType: 'Literal',
        literalValue: 'b',
      })),
    },
  });

describe('telemetry-many-attributes', () => {
  test.each<[number]>([[2], [128]])('%j is fine', (value) => {
    expect(remarks('telemetry-many-attributes', object(value))).toEqual([]);
  });

  test.each<[number, ...[path: string, message: string][]]>([
    [
      129,
      [
        'spec.tracing.attributes[128]',
        'Too many attributes: there are 129, and a span has at most 128 by default. The others are dropped. Remove attributes that you do not need.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('telemetry-many-attributes', object(value))).toEqual(expected);
  });
});
