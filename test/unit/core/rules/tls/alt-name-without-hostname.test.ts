import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (validation: object): unknown =>
  objectOf('BackendTLSPolicy', 'v1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System', ...validation },
  });

describe('alt-name-without-hostname', () => {
  test.each<[object]>([
    [
      {
        subjectAltNames: [
          { type: 'URI', uri: 'spiffe://example.com/cart' },
          { type: 'Hostname', hostname: 'cart.example.com' },
        ],
      },
    ],
    [{}],
  ])('%j is fine', (value) => {
    expect(remarks('alt-name-without-hostname', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { subjectAltNames: [{ type: 'URI', uri: 'spiffe://example.com/cart' }] },
      [
        'spec.validation.subjectAltNames',
        'Hostname "cart.example.com" is used for SNI only: with subjectAltNames, the certificate is verified against those names alone, and the hostname is not among them. Add it with type: Hostname, unless this is intended.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('alt-name-without-hostname', object(value))).toEqual(expected);
  });
});
