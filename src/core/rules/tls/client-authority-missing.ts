import { clientValidationOf } from '../../graph/listeners/gateway-tls.ts';
import { formatPath } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { listenerRule } from '../listeners/listener-rule.ts';

const modes = ['AllowValidOnly', 'AllowInsecureFallback'];

export const clientAuthorityMissing = listenerRule({
  id: 'client-authority-missing',
  summary: 'Client certificates are required, but no valid CA certificate is configured.',
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'listener' },
  varies: ['reason'],
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonNoValidCACertificate',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    if (validation === undefined) return;
    if (validation.mode !== undefined && !modes.includes(validation.mode)) {
      yield {
        below: ['port'],
        value: display(validation.mode),
        consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
        message: `Unsupported mode ${quote(validation.mode)} in ${formatPath([...validation.path, 'mode'])} of the Gateway, so the listener is not served. Use ${modes.join(' or ')}.`,
      };
    }
    if (validation.authorities.some(({ type }) => type === 'usable' || type === 'unobserved')) return;
    yield {
      below: ['port'],
      // Other controllers may support other kinds.
      ...(validation.authorities.some(({ type }) => type === 'unsupportedKind') ? { about: 'dialect' } : {}),
      message: `No valid CA certificate: the listener requires client certificates, but no reference in ${formatPath([...validation.path, 'caCertificateRefs'])} of the Gateway is valid, so the listener is not served. Use a ConfigMap with a PEM bundle in ca.crt.`,
    };
  },
});
