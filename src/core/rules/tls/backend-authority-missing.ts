import { backendAuthorities, validatingKinds, validationOf } from '../../graph/backends/backend-validation.ts';
import { isReadable } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { unchecked } from './backend-tls-policies.ts';

export const backendAuthorityMissing = rule({
  id: 'backend-authority-missing',
  kinds: validatingKinds,
  summary: 'A BackendTLSPolicy or XBackend with TLS has no valid CA certificates.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'object' },
  source:
    'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonNoValidCACertificate',
  check(subject, read, report) {
    const found = validationOf(subject);
    if (found === undefined) return;
    const { kind, ref } = subject;
    const path = [...found.path, 'caCertificateRefs'];
    const references = read.query(backendAuthorities, kind, ref.namespace, ref.name);
    const isTrusting =
      (found.validation.wellKnownCACertificates ?? '') !== '' ||
      references.some(({ type }) => type === 'usable' || type === 'unobserved');
    if (isTrusting || !isReadable(subject, path)) return;
    const fault =
      references.length === 0
        ? 'Neither caCertificateRefs nor wellKnownCACertificates is set'
        : 'None of the references is valid';
    const isElsewhere = references.some(({ type }) => type === 'unsupportedKind');
    report({
      path: references.length === 0 ? found.path : path,
      ...(isElsewhere && { about: 'dialect' }),
      message: `No valid CA certificate: ${fault}. Use a ConfigMap with a PEM bundle in ca.crt. ${unchecked}`,
    });
  },
});
