import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { SubjectAltName } from './backend-tls-details.ts';

/** `scheme://host`, optionally followed by a port or path. */
const withHost = /^[^:/?#]+:\/\/[^/?#]+/;

export const altNameUri = unenforcedRule(
  {
    id: 'alt-name-uri',
    summary: 'A URI in subjectAltNames has no host.',
    effect: deniedWhenStrict,
    source:
      'Gateway API v1.7.0, AbsoluteURI ("must include both a scheme and a scheme-specific-part"); RFC 5280 section 4.2.1.6',
  },
  function judge({ type, uri = '' }: SubjectAltName, report) {
    if (type !== 'URI' || uri === '' || withHost.test(uri)) return;
    report({
      below: ['uri'],
      value: display(uri),
      message: `Invalid URI ${quote(uri)}: it has no host after "://", so no certificate matches it. Use a URI such as spiffe://example.com/shop.`,
    });
  },
);
