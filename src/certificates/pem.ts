/**
 * The certificates in a PEM text, each in one form, so that equal ones are equal text. What is no certificate is left
 * out; whether one can be read is not checked. Linear in the length of the text.
 */
export function splitPem(text: string): readonly string[] {
  return text
    .split('-----BEGIN CERTIFICATE-----')
    .slice(1)
    .map((part) => part.split('-----END CERTIFICATE-----'))
    .filter((halves) => halves.length > 1)
    .map(([body = '']) => normalisePem(body));
}

/** Certificates as one PEM text. */
export function joinPem(certificates: readonly string[]): string {
  return certificates.map((certificate) => (certificate.endsWith('\n') ? certificate : `${certificate}\n`)).join('');
}

function normalisePem(body: string): string {
  const lines = body.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
