import { clientValidationOf } from '../../graph/listeners/gateway-tls.ts';
import { isClusterScoped, type AuthorityOutcome } from '../../graph/references.ts';
import { formatPath } from '../../resources/path.ts';
import { display } from '../../text/display.ts';
import { listenerRule } from '../listeners/listener-rule.ts';

export const clientAuthorityInvalid = listenerRule({
  id: 'client-authority-invalid',
  summary: 'A CA certificate reference for client certificates is invalid.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'listener' },
  varies: ['reason'],
  source:
    'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; ListenerReasonInvalidCACertificateRef, ListenerReasonInvalidCACertificateKind',
  *judge(listener, owner, read) {
    const validation = clientValidationOf(read, owner, listener);
    for (const reference of validation?.authorities ?? []) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const { reason = 'InvalidCACertificateRef', message, ...about } = problem;
      const place = formatPath([...(validation?.path ?? []), 'caCertificateRefs', reference.index]);
      yield {
        below: ['port'],
        ...about,
        consequence: { condition: 'ResolvedRefs', reason, scope: 'listener' },
        message: `Client validation uses ${place} of the Gateway, which is invalid: ${message}`,
      };
    }
  },
});

/** Describes why a reference to a CA certificate is invalid. Without `reason`, the default reason applies. */
export function describeAuthority(
  reference: AuthorityOutcome,
): { readonly reason?: string; readonly about?: 'dialect'; readonly message: string } | undefined {
  switch (reference.type) {
    case 'unsupportedKind':
      return {
        reason: 'InvalidCACertificateKind',
        about: 'dialect',
        message: `unsupported CA certificate kind ${display(reference.kind)}. Use kind: ConfigMap and group: "".`,
      };
    case 'notServed':
      return {
        reason: 'InvalidCACertificateKind',
        message: `the API server does not serve kind ${reference.kind}. Upgrade Kubernetes to 1.37, or use kind: ConfigMap and group: "".`,
      };
    case 'notPermitted':
      return {
        reason: 'RefNotPermitted',
        message: `reference to ConfigMap "${reference.target}" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind Gateway to kind ConfigMap.`,
      };
    case 'absent':
      return {
        message: isClusterScoped(reference.target)
          ? `ClusterTrustBundle "${reference.target}" not found. Check its name, or create it with a PEM bundle in spec.trustBundle.`
          : `ConfigMap "${reference.target}" not found. Check its name and namespace, or create it with a PEM bundle in ca.crt.`,
      };
    case 'unusable': {
      const kind = isClusterScoped(reference.target) ? 'ClusterTrustBundle' : 'ConfigMap';
      return { message: `${kind} "${reference.target}" is invalid: ${reference.problem}.` };
    }
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}
