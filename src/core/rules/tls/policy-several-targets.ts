import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './backend-tls-details.ts';

export const policySeveralTargets = unenforcedRule(
  {
    id: 'policy-several-targets',
    summary: 'A BackendTLSPolicy has more than one target.',
    effect: warned,
    source: 'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs (implementations need not support more than one)',
  },
  function judge(targets: readonly Reference[], report) {
    if (targets.length < 2) return;
    report({
      below: [1],
      value: String(targets.length),
      message: `The policy has ${targets.length} targets, but implementations are required to support only one. Create a policy for each target.`,
    });
  },
);
