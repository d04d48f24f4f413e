import { clientValidationOf } from '../../graph/gateway-tls.ts';
import { formatPath } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { listenerRule } from '../listeners/listener-rule.ts';

const modes = ['AllowValidOnly', 'AllowInsecureFallback'];

export const clientAuthorityMissing = listenerRule({
  id: 'client-authority-missing',
  summary: 'Clients have to prove who they are, but nothing is left that could prove it.',
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'listener' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonNoValidCACertificate',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    if (validation === undefined) return;
    if (validation.mode !== undefined && !modes.includes(validation.mode)) {
      yield {
        below: ['port'],
        value: display(validation.mode),
        consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
        message: `${formatPath([...validation.path, 'mode'])} of the Gateway is ${quote(validation.mode)}, which is unknown, so the listener is not served: nobody knows whom it should let in. Write ${modes.join(' or ')}.`,
      };
    }
    if (validation.authorities.some(({ type }) => type === 'usable' || type === 'unobserved')) return;
    yield {
      below: ['port'],
      // Another controller may read them from elsewhere.
      ...(validation.authorities.some(({ type }) => type === 'unsupportedKind') ? { about: 'dialect' } : {}),
      message: `Clients of this listener have to prove who they are, but no reference in ${formatPath([...validation.path, 'caCertificateRefs'])} of its Gateway leads to a certificate that could prove it, so the listener is not served. Name a ConfigMap with a PEM bundle in ca.crt.`,
    };
  },
});
