import { X509Certificate } from 'node:crypto';
import { attempt } from './attempt.ts';

/**
 * Returns the certificates in a PEM text in a normalized form, so that equal certificates are equal as text. Skips other content. Does
 * not check whether a certificate is valid. Linear in the length of the text.
 */
export function splitPem(text: string): readonly string[] {
  return text
    .split('-----BEGIN CERTIFICATE-----')
    .slice(1)
    .map((part) => part.split('-----END CERTIFICATE-----'))
    .filter((halves) => halves.length > 1)
    .map(([body = '']) => normalisePem(body));
}

/** Reads a certificate in PEM. Returns `undefined` if it is invalid. */
export function readCertificate(pem: string): X509Certificate | undefined {
  return attempt(() => new X509Certificate(pem));
}

/** Joins certificates to one PEM text. */
export function joinPem(certificates: readonly string[]): string {
  return certificates.map((certificate) => (certificate.endsWith('\n') ? certificate : `${certificate}\n`)).join('');
}

function normalisePem(body: string): string {
  const lines = body.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
