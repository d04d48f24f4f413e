import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { isQualifiedName } from '../objects/qualified-key.ts';

/** CRD schemas do not validate map keys. */
export const optionKey = unenforcedRule(
  {
    id: 'option-key',
    summary: 'The key of a TLS option has no domain prefix.',
    effect: deniedWhenStrict,
    source:
      'Gateway API v1.7.0, ListenerTLSConfig.options and BackendTLSPolicySpec.options ("MUST be prefixed" by implementations; others are reserved)',
  },
  function judge(options: Readonly<Record<string, unknown>>, report) {
    for (const key of Object.keys(options)) {
      if (key.includes('/') && isQualifiedName(key)) continue;
      report({
        below: [key],
        value: display(key),
        message: `Invalid option key ${quote(key)}: keys without a domain prefix are reserved. Use the key that your implementation documents, for example example.com/min-version.`,
      });
    }
  },
);
