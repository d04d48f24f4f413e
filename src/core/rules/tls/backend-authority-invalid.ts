import { policyAuthorities } from '../../graph/backend-policies.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { describeAuthority } from './client-authority-invalid.ts';

export const backendAuthorityInvalid = rule({
  id: 'backend-authority-invalid',
  kinds: ['BackendTLSPolicy'],
  summary: 'A CA certificate reference of a BackendTLSPolicy is invalid.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'object' },
  source:
    'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonInvalidCACertificateRef, BackendTLSPolicyReasonInvalidKind',
  check({ ref: { namespace, name } }, read, report) {
    for (const reference of read.query(policyAuthorities, namespace, name)) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const isKind = reference.type === 'unsupportedKind' || reference.type === 'notServed';
      const reason = isKind ? 'InvalidKind' : 'InvalidCACertificateRef';
      const { about } = problem;
      report({
        path: ['spec', 'validation', 'caCertificateRefs', reference.index],
        ...(about && { about }),
        consequence: { condition: 'ResolvedRefs', reason, scope: 'object' },
        message: `Invalid CA certificate reference: ${problem.message}`,
      });
    }
  },
});
