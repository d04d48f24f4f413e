import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

/** Keys of maps are beyond the reach of CRDs. */
export const optionKey = unenforcedRule({
  id: 'option-key',
  summary: 'The key of a TLS option has no domain of an implementation before it.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.options and BackendTLSPolicySpec.options ("MUST be prefixed" by implementations; others are reserved)',
}, function judge(options: Readonly<Record<string, unknown>>, report) {
  for (const key of Object.keys(options)) {
    const [domain = '', ...rest] = key.split('/');
    if (rest.length === 1 && isSubdomain(domain) && /^(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/.test(rest[0] ?? '')) continue;
    report({ below: [key], value: display(key), message: `The option ${quote(key)} has no domain before it; such keys are reserved, so no implementation knows it. Write the key as your implementation documents it, e.g. example.com/min-version.` });
  }
});
