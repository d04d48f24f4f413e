import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (tracing: object): unknown =>
  objectOf('XTelemetryPolicy', 'v1alpha1', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front' }],
    tracing: { mode: 'Enabled', provider: { backendRef: { name: 'traces', port: 4317 } }, ...tracing },
  });

describe('telemetry-secret', () => {
  test.each<[object]>([
    [{ provider: { backendRef: { name: 'traces', port: 4317 }, headers: [{ name: 'x-tenant', value: 'shop' }] } }],
  ])('%j is fine', (value) => {
    expect(remarks('telemetry-secret', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        provider: {
          backendRef: { name: 'traces', port: 4317 },
          headers: [{ name: 'Authorization', value: 'Bearer abc' }],
        },
      },
      [
        'spec.tracing.provider.headers[0]',
        'Header "Authorization" contains a credential, and everyone who can read this policy can see it. Let a collector inside the cluster add it.',
      ],
    ],
    [
      { attributes: [{ name: 'who', sourceType: 'Header', headerName: 'cookie' }] },
      [
        'spec.tracing.attributes[0].headerName',
        'Header "cookie" contains a credential, and every trace would include it. Everyone who can read traces could impersonate clients. Remove this attribute.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('telemetry-secret', object(value))).toEqual(expected);
  });
});
