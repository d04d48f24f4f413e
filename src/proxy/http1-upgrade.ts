import type { IncomingMessage } from 'node:http';

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:\/[!#$%&'*+.^_`|~0-9a-z-]+)?$/i;

// Other versions of HTTP, and TLS, would hide requests from whoever judges them.
const unsafe = /^(?:h2c?|http|tls)(?:\/|$)/i;

/**
 * The protocol to which a request asks to switch its connection (RFC 9110 section 7.8), if that may be done: a single
 * one that is not HTTP itself, and no body before it. `undefined` ignores the wish, as any server may.
 */
export function upgradeOf({ headers, httpVersion }: IncomingMessage): string | undefined {
  const { upgrade, connection = '' } = headers;
  if (upgrade === undefined || httpVersion !== '1.1' || !token.test(upgrade) || unsafe.test(upgrade)) return undefined;
  const isNamed = connection.split(',').some((option) => option.trim().toLowerCase() === 'upgrade');
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return isNamed && !hasBody ? upgrade : undefined;
}
