const secretKey =
  /authorization|cookie|passw(?:or)?d|passphrase|token|private[-_.]?key|api[-_.]?key|client[-_.]?secret|credential|^tls\.key$/i;
const privateKeyBlock = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g;
const bearer = /\bBearer +[^\s"',]+/gi;
/** Matches every line that may contain one of the above. Most lines do not match and are not parsed. */
const suspicious = new RegExp(`${secretKey.source.replace(/\^|\$/g, '')}|PRIVATE KEY|Bearer|"Secret"`, 'i');

export const redacted = '[redacted]';

/**
 * Redacts one line of JSON: values under names like `password` or `authorization`, the data of Secret objects, private
 * keys, and bearer tokens in text.
 */
export function redactLine(line: string): string {
  return suspicious.test(line) ? `${JSON.stringify(redact('', JSON.parse(line)))}\n` : line;
}

function redact(name: string, value: unknown): unknown {
  if (secretKey.test(name) && value !== null) return redacted;
  if (typeof value === 'string') return value.replace(privateKeyBlock, redacted).replace(bearer, `Bearer ${redacted}`);
  if (Array.isArray(value)) return value.map((item) => redact('', item));
  if (typeof value !== 'object' || value === null) return value;
  const isSecret = 'kind' in value && value.kind === 'Secret';
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    isSecret && isSecretData(key) ? redacted : redact(key, inner),
  ]);
  return Object.fromEntries(entries);
}

function isSecretData(key: string): boolean {
  return key === 'data' || key === 'stringData';
}
