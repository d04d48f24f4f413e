import { listItems } from '../../core/text/fields.ts';
import type { RequestHead } from '../messages/request-head.ts';

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:\/[!#$%&'*+.^_`|~0-9a-z-]+)?$/i;

// Other versions of HTTP, and TLS, would hide requests from routing and policies.
const unsafe = /^(?:h2c?|http|tls)(?:\/|$)/i;

/**
 * Returns the protocol to which a request asks to switch its connection (RFC 9110 section 7.8), if it is allowed: a
 * single protocol that is not HTTP itself, and no request body. `undefined` ignores the upgrade, which any server may
 * do.
 */
export function upgradeOf(head: RequestHead): string | undefined {
  if (!head.asksForUpgrade) return undefined;
  const upgrade = head.header('upgrade') ?? '';
  if (head.httpVersion !== '1.1' || !token.test(upgrade) || unsafe.test(upgrade)) return undefined;
  const isNamed = listItems(head.header('connection') ?? '').includes('upgrade');
  return isNamed && !head.hasBody ? upgrade : undefined;
}
