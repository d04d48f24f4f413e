import { policyOfTarget, targetedBackend } from '../../graph/backend-policies.ts';
import { quoteRef } from '../../resources/reference.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

export const backendPolicyConflicted = rule({
  id: 'backend-policy-conflicted',
  kinds: ['BackendTLSPolicy'],
  summary: 'An older BackendTLSPolicy targets the same Service, ServiceImport or port.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Conflicted', scope: 'target' },
  source:
    'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs ("For any BackendTLSPolicy that does not take precedence")',
  check({ spec, ref: { namespace, name } }, read, report) {
    for (const [index, target] of (spec?.targetRefs ?? []).entries()) {
      const { sectionName = '' } = target;
      const backend = targetedBackend(target, namespace);
      if (backend === undefined) continue;
      const winner = read.query(policyOfTarget, backend.kind, namespace, backend.name, sectionName);
      if (winner === undefined || winner === name) continue;
      const targeted = quoteRef(backend);
      const what = sectionName === '' ? targeted : `port ${display(sectionName)} of ${targeted}`;
      report({
        path: ['spec', 'targetRefs', index],
        value: winner,
        message: `Conflicts with BackendTLSPolicy "${namespace}/${winner}", which also targets ${what} and takes precedence (older, or first by name). Remove one of them, or target different ports with sectionName.`,
      });
    }
  },
});
