import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (validation: object): unknown =>
  objectOf('BackendTLSPolicy', 'v1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System', ...validation },
  });

describe('alt-name-uri', () => {
  test.each<[object]>([
    [
      {
        subjectAltNames: [
          { type: 'URI', uri: 'spiffe://example.com/cart' },
          { type: 'Hostname', hostname: 'cart.example.com' },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('alt-name-uri', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        subjectAltNames: [
          { type: 'URI', uri: 'spiffe:///cart' },
          { type: 'Hostname', hostname: 'cart.example.com' },
        ],
      },
      [
        'spec.validation.subjectAltNames[0].uri',
        'Invalid URI "spiffe:///cart": it has no host after "://", so no certificate matches it. Use a URI such as spiffe://example.com/shop.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('alt-name-uri', object(value))).toEqual(expected);
  });
});
