import { describe, expect, test } from '@jest/globals';
import { found, grantIn, serviceWith } from '../../../../support/evaluation.ts';
import { routeWith } from '../../../../support/rules.ts';

const route = routeWith({ backendRefs: [{ name: 'invoices', namespace: 'billing', port: 8080 }] });
const invoices = serviceWith({ ports: [{ port: 8080 }] }, 'invoices', 'billing');
const from = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' };
const to = { group: '', kind: 'Service' };

describe('backend-not-permitted', () => {
  test('across namespaces, whether the Service exists or not', () => {
    const expected = [
      [
        'spec.rules[0].backendRefs[0]',
        'Service "billing/invoices" is in another namespace, and no ReferenceGrant there permits this reference. Until then, its share of requests is answered with 500.',
        'ResolvedRefs RefNotPermitted backendRef',
      ],
    ];
    expect(found('backend-not-permitted', [route, invoices])).toEqual(expected);
    expect(found('backend-not-permitted', [route])).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['all Services', grantIn('billing', from, to)],
    ['this one', grantIn('billing', from, { ...to, name: 'invoices' })],
  ])('a grant for %s permits', (_, grant) => {
    expect(found('backend-not-permitted', [route, invoices, grant])).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['in another namespace', grantIn('shop', from, to)],
    ['from another namespace', grantIn('billing', { ...from, namespace: 'market' }, to)],
    ['from another kind', grantIn('billing', { ...from, kind: 'GRPCRoute' }, to)],
    ['to another kind', grantIn('billing', from, { ...to, kind: 'Secret' })],
    ['to another name', grantIn('billing', from, { ...to, name: 'ledger' })],
    ['to a name that cannot be read', grantIn('billing', from, { ...to, name: 5 })],
  ])('a grant %s does not', (_, grant) => {
    expect(found('backend-not-permitted', [route, invoices, grant])).toHaveLength(1);
  });

  test('within one namespace no grant is needed', () => {
    expect(found('backend-not-permitted', [routeWith({ backendRefs: [{ name: 'cart', port: 80 }] })])).toEqual([]);
  });
});
