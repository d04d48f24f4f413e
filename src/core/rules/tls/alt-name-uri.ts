import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { SubjectAltName } from './backend-tls-details.ts';

/** `scheme://host`, where the host may be followed by a port or path. */
const withHost = /^[^:/?#]+:\/\/[^/?#]+/;

export const altNameUri = unenforcedRule({
  id: 'alt-name-uri',
  summary: 'A URI that a certificate is to have names no host.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, AbsoluteURI ("must include both a scheme and a scheme-specific-part"); RFC 5280 section 4.2.1.6',
}, function judge({ type, uri = '' }: SubjectAltName, report) {
  if (type !== 'URI' || uri === '' || withHost.test(uri)) return;
  report({ below: ['uri'], value: display(uri), message: `${quote(uri)} has no host after "://", so no certificate has it. Write one such as spiffe://example.com/shop.` });
});
