import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { authority, authorityFacts, backendTlsPolicy } from '../../../../support/backend-tls.ts';

const judged = (validation: object) =>
  found(
    'backend-authority-missing',
    [backendTlsPolicy('a', { validation: { hostname: 'cart.example.com', ...validation } })],
    authorityFacts,
  );

describe('backend-authority-missing', () => {
  test('where none of them can be used', () => {
    expect(judged({ caCertificateRefs: [authority('gone'), authority('empty')] })).toEqual([
      [
        'spec.validation.caCertificateRefs',
        expect.stringContaining(
          'No valid CA certificate: None of the references is valid. Use a ConfigMap with a PEM bundle in ca.crt. Until then, requests to the target get 500, because the backend cannot be verified.',
        ),
        'Accepted NoValidCACertificate object',
      ],
    ]);
  });

  test('where none is named', () => {
    expect(judged({})).toEqual([
      [
        'spec.validation',
        expect.stringContaining('Neither caCertificateRefs nor wellKnownCACertificates is set'),
        'Accepted NoValidCACertificate object',
      ],
    ]);
  });

  test('leaves what could not be read to the rule that is about that', () => {
    expect(judged({ caCertificateRefs: 'good' })).toEqual([]);
  });

  test.each<[object]>([
    [{ caCertificateRefs: [authority('gone'), authority('good')] }],
    [{ wellKnownCACertificates: 'System' }],
  ])('%j is fine', (validation) => {
    expect(judged(validation)).toEqual([]);
  });
});
