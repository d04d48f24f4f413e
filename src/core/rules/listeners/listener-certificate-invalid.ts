import { readObject } from '../../graph/inputs.ts';
import { terminatesTls } from '../../graph/protocols.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { display } from '../../text/display.ts';
import type { Finding } from '../engine/rule.ts';
import { listenerRule } from './listener-rule.ts';

export const listenerCertificateInvalid = listenerRule({
  id: 'listener-certificate-invalid',
  summary: 'A certificateRef of a listener does not resolve to a valid certificate.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCertificateRef', scope: 'listener' },
  varies: ['reason'],
  source:
    'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs; ListenerReasonInvalidCertificateRef, ListenerReasonRefNotPermitted',
  *judge(listener, owner, read) {
    if (!terminatesTls(listener)) return;
    const { kind, namespace, name } = owner;
    const { options = {} } = readObject(read, kind, namespace, name)?.spec?.listeners?.[listener.index]?.tls ?? {};
    if (listener.certificates.length === 0 && Object.keys(options).length > 0) {
      yield {
        below: ['tls', 'certificateRefs'],
        about: 'dialect',
        message: `Listener "${listener.name}" has no certificateRefs, and its tls.options are unsupported. Set certificateRefs with a Secret of type kubernetes.io/tls.`,
      };
    }
    for (const certificate of listener.certificates) {
      const problem = describeCertificate(certificate, kind);
      if (problem !== undefined) yield { below: ['tls', 'certificateRefs', certificate.index], ...problem };
    }
  },
});

function describeCertificate(
  certificate: ReferenceOutcome,
  fromKind: string,
): Omit<Finding, 'rule' | 'path'> | undefined {
  switch (certificate.type) {
    case 'unsupportedKind':
      return {
        value: display(certificate.kind),
        about: 'dialect',
        message: `Unsupported certificate kind ${display(certificate.kind)}. Use kind: Secret and an empty group.`,
      };
    case 'notPermitted':
      return {
        value: certificate.target,
        consequence: { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'listener' },
        message: `Reference to Secret "${certificate.target}" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind ${fromKind} to kind Secret.`,
      };
    case 'absent':
      return {
        value: certificate.target,
        message: `Secret "${certificate.target}" not found. Check its name and namespace, or create it with type kubernetes.io/tls.`,
      };
    case 'unusable':
      return {
        value: certificate.target,
        message: `Invalid certificate in Secret "${certificate.target}": ${certificate.problem}.`,
      };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}
