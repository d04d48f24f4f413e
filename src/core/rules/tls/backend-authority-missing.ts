import { policyAuthorities } from '../../graph/backend-policies.ts';
import { isReadable } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { unchecked } from './backend-tls-policies.ts';

export const backendAuthorityMissing = rule({
  id: 'backend-authority-missing',
  kinds: ['BackendTLSPolicy'],
  summary: 'A BackendTLSPolicy has no valid CA certificates.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'NoValidCACertificate', scope: 'object' },
  source:
    'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonNoValidCACertificate',
  check(policy, read, report) {
    const path = ['spec', 'validation', 'caCertificateRefs'];
    const references = read.query(policyAuthorities, policy.ref.namespace, policy.ref.name);
    const isTrusting =
      (policy.spec?.validation?.wellKnownCACertificates ?? '') !== '' ||
      references.some(({ type }) => type === 'usable' || type === 'unobserved');
    if (isTrusting || !isReadable(policy, path)) return;
    const fault =
      references.length === 0
        ? 'Neither caCertificateRefs nor wellKnownCACertificates is set'
        : 'None of the references is valid';
    const isElsewhere = references.some(({ type }) => type === 'unsupportedKind');
    report({
      path: references.length === 0 ? ['spec', 'validation'] : path,
      ...(isElsewhere && { about: 'dialect' }),
      message: `No valid CA certificate: ${fault}. Use a ConfigMap with a PEM bundle in ca.crt. ${unchecked}`,
    });
  },
});
