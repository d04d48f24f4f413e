import {
  backendPolicyKinds,
  policyOfTarget,
  targetedBackend,
  targetsOf,
  trafficPolicyOf,
  type BackendPolicyKind,
} from '../../graph/backends/backend-policies.ts';
import { quoteRef } from '../../resources/reference.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

const remedies: Readonly<Record<BackendPolicyKind, string>> = {
  BackendTLSPolicy: 'Remove one of them, or target different ports with sectionName.',
  XBackendTrafficPolicy: 'Remove one of them, or set all its fields in the other one.',
};

export const backendPolicyConflicted = rule({
  id: 'backend-policy-conflicted',
  kinds: backendPolicyKinds,
  summary: 'An older policy of the same kind targets the same Service, ServiceImport or port.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Conflicted', scope: 'target' },
  source:
    'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs ("For any BackendTLSPolicy that does not take precedence"); GEP-713, Conflict Resolution',
  check({ kind, ref: { namespace, name } }, read, report) {
    for (const [index, target] of targetsOf(read, kind, namespace, name).entries()) {
      const { sectionName = '' } = target;
      const backend = targetedBackend(target, namespace);
      if (backend === undefined) continue;
      const winner =
        kind === 'BackendTLSPolicy'
          ? read.query(policyOfTarget, backend.kind, namespace, backend.name, sectionName)
          : read.query(trafficPolicyOf, backend.kind, namespace, backend.name);
      if (winner === undefined || winner === name) continue;
      const targeted = quoteRef(backend);
      const what = sectionName === '' ? targeted : `port ${display(sectionName)} of ${targeted}`;
      report({
        path: ['spec', 'targetRefs', index],
        value: winner,
        message: `Conflicts with ${kind} "${namespace}/${winner}", which also targets ${what} and takes precedence (older, or first by name). ${remedies[kind]}`,
      });
    }
  },
});
