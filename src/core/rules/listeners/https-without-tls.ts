import { isReadable } from '../../resources/resource.ts';
import { quote } from '../../text/display.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

/** Required by v1.0 bundles, and still by the text. If tls is set, another rule checks the certificates. */
export const httpsWithoutTls = rule({
  id: 'https-without-tls',
  kinds: ['Gateway', 'ListenerSet'],
  summary: 'A listener with protocol HTTPS has no tls.',
  effect: deniedWhenStrict,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCertificateRef', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.tls ("required if the Protocol field is HTTPS or TLS")',
  check(owner, _read, report) {
    for (const [index, { name = '', protocol = '', tls }] of (owner.spec?.listeners ?? []).entries()) {
      const path = ['spec', 'listeners', index, 'tls'];
      if (tls !== undefined || protocol !== 'HTTPS' || !isReadable(owner, path)) continue;
      report({
        path,
        message: `Listener ${quote(name)} terminates TLS, but has no certificate. Set tls with certificateRefs that name a Secret of type kubernetes.io/tls, or use protocol: HTTP.`,
      });
    }
  },
});
