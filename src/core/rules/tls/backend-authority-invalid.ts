import { backendAuthorities, validatingKinds, validationOf } from '../../graph/backends/backend-validation.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';
import { describeAuthority } from './client-authority-invalid.ts';

export const backendAuthorityInvalid = rule({
  id: 'backend-authority-invalid',
  kinds: validatingKinds,
  summary: 'A CA certificate reference of a BackendTLSPolicy or XBackend is invalid.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidCACertificateRef', scope: 'object' },
  varies: ['reason'],
  source:
    'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs; BackendTLSPolicyReasonInvalidCACertificateRef, BackendTLSPolicyReasonInvalidKind',
  check(subject, read, report) {
    const { kind, ref } = subject;
    for (const reference of read.query(backendAuthorities, kind, ref.namespace, ref.name)) {
      const problem = describeAuthority(reference);
      if (problem === undefined) continue;
      const isKind = reference.type === 'unsupportedKind' || reference.type === 'notServed';
      const reason = isKind ? 'InvalidKind' : 'InvalidCACertificateRef';
      const { about } = problem;
      report({
        path: [...(validationOf(subject)?.path ?? []), 'caCertificateRefs', reference.index],
        ...(about && { about }),
        consequence: { condition: 'ResolvedRefs', reason, scope: 'object' },
        message: `Invalid CA certificate reference: ${problem.message}`,
      });
    }
  },
});
