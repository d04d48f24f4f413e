import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { authority, authorityFacts, backendTlsPolicy } from '../../../../support/backend-tls.ts';

const good = { hostname: 'cart.example.com', caCertificateRefs: [authority('good')] };
const judged = (validation: unknown) =>
  found('backend-validation-invalid', [backendTlsPolicy('a', { validation })], authorityFacts);

describe('backend-validation-invalid', () => {
  test.each<[object, string, string]>([
    [{ ...good, hostname: undefined }, 'hostname', 'it is empty'],
    [{ ...good, hostname: '*.example.com' }, 'hostname', 'contains a wildcard'],
    [{ ...good, hostname: '10.0.0.1' }, 'hostname', 'is an IP address'],
    [
      { ...good, wellKnownCACertificates: 'System' },
      'wellKnownCACertificates',
      'caCertificateRefs conflicts with wellKnownCACertificates: both set the trusted CA certificates. Remove one of them. Until then, requests to the target get 500, because the backend cannot be verified.',
    ],
    [
      { hostname: 'cart.example.com', wellKnownCACertificates: 'Mozilla' },
      'wellKnownCACertificates',
      'Unsupported wellKnownCACertificates "Mozilla". Use System, or use ConfigMaps in caCertificateRefs. Until then, requests to the target get 500, because the backend cannot be verified.',
    ],
    [{ ...good, subjectAltNames: [{ type: 'Hostname' }] }, 'subjectAltNames[0].hostname', 'it is empty'],
    [
      { ...good, subjectAltNames: [{ type: 'URI', hostname: 'a.example.com' }] },
      'subjectAltNames[0].uri',
      'URI is required with type: URI. Use a URI such as spiffe://example.com/shop. Until then, requests to the target get 500, because the backend cannot be verified.',
    ],
    [
      { ...good, subjectAltNames: [{ type: 'Hostname', hostname: 'a.example.com' }, { type: 'Email' }] },
      'subjectAltNames[1].type',
      'Unsupported type "Email". Use Hostname or URI. Until then, requests to the target get 500, because the backend cannot be verified.',
    ],
  ])('%j', (validation, below, words) => {
    const path = below === '' ? 'spec.validation' : `spec.validation.${below}`;
    expect(judged(validation)).toEqual([[path, expect.stringContaining(words), 'Accepted Invalid object']]);
  });

  test.each<[object]>([
    [good],
    [{ hostname: 'cart.example.com', caCertificateRefs: [] }],
    [{ hostname: 'cart.example.com', wellKnownCACertificates: 'System' }],
    [
      {
        ...good,
        subjectAltNames: [
          { type: 'Hostname', hostname: '*.example.com' },
          { type: 'URI', uri: 'spiffe://example.com/shop' },
        ],
      },
    ],
  ])('%j is fine', (validation) => {
    expect(judged(validation)).toEqual([]);
  });

  test('leaves what could not be read to the rule that is about that', () => {
    expect(judged({ ...good, hostname: 1 })).toEqual([]);
  });
});
