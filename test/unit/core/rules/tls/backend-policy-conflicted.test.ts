import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { backendTlsPolicy } from '../../../../support/backend-tls.ts';
import { trafficPolicy } from '../../../../support/traffic-policy.ts';

const target = (name: string, sectionName?: string) => ({
  group: '',
  kind: 'Service',
  name,
  ...(sectionName === undefined ? {} : { sectionName }),
});
const judged = (spec: object, ...others: readonly unknown[]) =>
  found('backend-policy-conflicted', [backendTlsPolicy('b', spec), ...others]);
const lost = (index: number, what: string, winner: string) => [
  `spec.targetRefs[${index}]`,
  `Conflicts with BackendTLSPolicy "shop/${winner}", which also targets ${what} and takes precedence (older, or first by name). Remove one of them, or target different ports with sectionName.`,
  'Accepted Conflicted target',
];

describe('backend-policy-conflicted', () => {
  test('the older one goes, then the first by name', () => {
    expect(judged({}, backendTlsPolicy('z', {}, '2025-01-01T00:00:00Z'))).toEqual([
      lost(0, 'Service "shop/cart"', 'z'),
    ]);
    expect(judged({}, backendTlsPolicy('a'))).toEqual([lost(0, 'Service "shop/cart"', 'a')]);
    expect(judged({}, backendTlsPolicy('c'), backendTlsPolicy('a', {}, '2027-01-01T00:00:00Z'))).toEqual([]);
  });

  test('target by target, and port by port', () => {
    const older = backendTlsPolicy(
      'z',
      { targetRefs: [target('cart', 'https'), target('stock')] },
      '2025-01-01T00:00:00Z',
    );
    expect(
      judged(
        { targetRefs: [target('cart', 'https'), target('cart'), target('cart', 'admin'), target('stock')] },
        older,
      ),
    ).toEqual([lost(0, 'port https of Service "shop/cart"', 'z'), lost(3, 'Service "shop/stock"', 'z')]);
  });

  test('other namespaces and kinds are none of its business', () => {
    const older = backendTlsPolicy('z', {}, '2025-01-01T00:00:00Z') as { readonly metadata: object };
    expect(judged({}, { ...older, metadata: { ...older.metadata, namespace: 'garden' } })).toEqual([]);
    const backend = { group: 'example.com', kind: 'Backend', name: 'cart' };
    expect(
      judged({ targetRefs: [backend] }, backendTlsPolicy('z', { targetRefs: [backend] }, '2025-01-01T00:00:00Z')),
    ).toEqual([]);
  });

  test('the older XBackendTrafficPolicy takes precedence, whatever it sets; other kinds do not conflict', () => {
    const older = trafficPolicy('z', {}, '2025-01-01T00:00:00Z');
    const others = [backendTlsPolicy('a', {}, '2024-01-01T00:00:00Z'), older];
    expect(found('backend-policy-conflicted', [trafficPolicy('b', { retryConstraint: {} }), ...others])).toEqual([
      [
        'spec.targetRefs[0]',
        'Conflicts with XBackendTrafficPolicy "shop/z", which also targets Service "shop/cart" and takes precedence (older, or first by name). Remove one of them, or set all its fields in the other one.',
        'Accepted Conflicted target',
      ],
    ]);
    expect(found('backend-policy-conflicted', [older, trafficPolicy('b')])).toEqual([]);
  });
});
