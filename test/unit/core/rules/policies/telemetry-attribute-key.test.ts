import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (attributeKey: string): unknown =>
  objectOf('XTelemetryPolicy', 'v1alpha1', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front' }],
    tracing: {
      mode: 'Enabled',
      provider: { backendRef: { name: 'traces', port: 4317 } },
      attributes: [{ name: 'shown', sourceType: 'Attribute', attributeKey }],
    },
  });

describe('telemetry-attribute-key', () => {
  test.each<[string]>([['http.request.method'], ['url.path']])('%j is fine', (value) => {
    expect(remarks('telemetry-attribute-key', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    [
      'envoy.upstream',
      [
        'spec.tracing.attributes[0].attributeKey',
        'Unknown attribute "envoy.upstream": it is not an OpenTelemetry attribute of requests, so implementations ignore it. Use one such as http.request.method or url.path.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('telemetry-attribute-key', object(value))).toEqual(expected);
  });
});
