import type { IncomingMessage } from 'node:http';

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:\/[!#$%&'*+.^_`|~0-9a-z-]+)?$/i;

// Other versions of HTTP, and TLS, would hide requests from routing and policies.
const unsafe = /^(?:h2c?|http|tls)(?:\/|$)/i;

/**
 * Returns the protocol to which a request asks to switch its connection (RFC 9110 section 7.8), if it is allowed: a
 * single protocol that is not HTTP itself, and no request body. `undefined` ignores the upgrade, which any server may
 * do.
 */
export function upgradeOf({ headers, httpVersion }: IncomingMessage): string | undefined {
  const { upgrade, connection = '' } = headers;
  if (upgrade === undefined || httpVersion !== '1.1' || !token.test(upgrade) || unsafe.test(upgrade)) return undefined;
  const isNamed = connection.split(',').some((option) => option.trim().toLowerCase() === 'upgrade');
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return isNamed && !hasBody ? upgrade : undefined;
}
