import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (ref: object): unknown =>
  objectOf('XTelemetryPolicy', 'v1alpha1', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front', ...ref }],
    tracing: { mode: 'Disabled' },
  });

describe('telemetry-target-kind', () => {
  test.each<[object]>([[{}]])('%j is fine', (value) => {
    expect(remarks('telemetry-target-kind', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { kind: 'HTTPRoute' },
      [
        'spec.targetRefs[0].kind',
        'Target kind "HTTPRoute" of group "gateway.networking.k8s.io" is not portable: implementations are required to support only Gateway. Use kind: Gateway and group: gateway.networking.k8s.io.',
      ],
    ],
    [
      { group: '', kind: 'Service' },
      [
        'spec.targetRefs[0].kind',
        'Target kind "Service" of group "" is not portable: implementations are required to support only Gateway. Use kind: Gateway and group: gateway.networking.k8s.io.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('telemetry-target-kind', object(value))).toEqual(expected);
  });
});
