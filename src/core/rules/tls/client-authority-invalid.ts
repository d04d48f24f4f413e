import { clientValidationOf } from '../../graph/gateway-tls.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { formatPath } from '../../resources/path.ts';
import { display } from '../../text/display.ts';
import { listenerRule } from '../listeners/listener-rule.ts';

export const clientAuthorityInvalid = listenerRule({
  id: 'client-authority-invalid',
  summary: 'An authority that certificates of clients shall come from cannot be used.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'listener' },
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonInvalidCACertificateRef, ListenerReasonInvalidCACertificateKind',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    for (const reference of validation?.authorities ?? []) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const { reason = 'InvalidCACertificateRef', message, ...about } = problem;
      const place = formatPath([...(validation?.path ?? []), 'caCertificateRefs', reference.index]);
      yield { below: ['port'], ...about, consequence: { condition: 'ResolvedRefs', reason, scope: 'listener' }, message: `Clients of this listener are checked by ${place} of its Gateway, which cannot be used: ${message}` };
    }
  },
});

/** Where a reference to an authority does not lead to one; without a reason it is the usual one. */
export function describeAuthority(reference: ReferenceOutcome): { readonly reason?: string; readonly about?: 'dialect'; readonly message: string } | undefined {
  switch (reference.type) {
    case 'unsupportedKind':
      return { reason: 'InvalidCACertificateKind', about: 'dialect', message: `certificates of authorities are read from ConfigMaps only, not from ${display(reference.kind)}. Write kind: ConfigMap and group: "".` };
    case 'notPermitted':
      return { reason: 'RefNotPermitted', message: `ConfigMap ${reference.target} is in another namespace, where a ReferenceGrant must allow it, from kind Gateway to kind ConfigMap.` };
    case 'absent':
      return { message: `ConfigMap ${reference.target} has not been seen. Check name and namespace, or create it with a PEM bundle in ca.crt.` };
    case 'unusable':
      return { message: `ConfigMap ${reference.target} holds no usable certificate: ${reference.problem}.` };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}
