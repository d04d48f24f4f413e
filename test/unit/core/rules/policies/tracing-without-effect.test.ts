import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (tracing: object): unknown =>
  objectOf('XTelemetryPolicy', 'v1alpha1', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front' }],
    tracing,
  });

describe('tracing-without-effect', () => {
  test.each<[object]>([[{ mode: 'Disabled' }]])('%j is fine', (value) => {
    expect(remarks('tracing-without-effect', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {},
      [
        'spec.tracing.mode',
        'mode: ImplementationDefault has no effect: tracing stays as it is without this policy. Use mode: Enabled with provider, or mode: Disabled.',
      ],
    ],
    [
      { mode: 'Enabled', provider: { backendRef: { name: 'traces', port: 4317 } }, samplingRate: { numerator: 0 } },
      [
        'spec.tracing.samplingRate.numerator',
        'Sampling rate 0 traces no requests. Use a rate above 0, or mode: Disabled.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('tracing-without-effect', object(value))).toEqual(expected);
  });
});
