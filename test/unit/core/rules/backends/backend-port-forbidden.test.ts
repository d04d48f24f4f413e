import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('backend-port-forbidden', () => {
  const xBackend = { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'cart' };

  test.each([[xBackend], [{ name: 'cart', port: 80 }], [{ ...xBackend, group: 'example.com', port: 80 }]])(
    '%j is fine',
    (backendRef) => {
      expect(
        refusals('backend-port-forbidden', objectOf('TCPRoute', 'v1', { rules: [{ backendRefs: [backendRef] }] })),
      ).toEqual([]);
    },
  );

  const ref = { ...xBackend, port: 80 };
  test.each<[unknown, string]>([
    [objectOf('TCPRoute', 'v1', { rules: [{ backendRefs: [ref] }] }), 'spec.rules[0].backendRefs[0].port'],
    [objectOf('UDPRoute', 'v1alpha2', { rules: [{ backendRefs: [ref] }] }), 'spec.rules[0].backendRefs[0].port'],
    [objectOf('TLSRoute', 'v1', { rules: [{ backendRefs: [ref] }] }), 'spec.rules[0].backendRefs[0].port'],
    [
      objectOf('HTTPRoute', 'v1', {
        rules: [{ filters: [{ type: 'RequestMirror', requestMirror: { backendRef: ref } }] }],
      }),
      'spec.rules[0].filters[0].requestMirror.backendRef.port',
    ],
    [
      objectOf('XTelemetryPolicy', 'v1alpha1', { tracing: { provider: { backendRef: ref } } }),
      'spec.tracing.provider.backendRef.port',
    ],
  ])('%j', (json, path) => {
    expect(refusals('backend-port-forbidden', json)).toEqual([
      [
        path,
        'Port is not allowed in a reference to XBackend "cart": the XBackend defines its port itself. Remove port.',
      ],
    ]);
    expect(refusingBundles('backend-port-forbidden', json)).toEqual(['experimental 1.7–1.7']);
  });
});
