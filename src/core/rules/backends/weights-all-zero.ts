import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { BackendRef } from '../routes/rule-contents.ts';
import { weightOf } from '../../semantics/intended.ts';

export const weightsAllZero = unenforcedRule(
  {
    id: 'weights-all-zero',
    summary: 'Every backendRef of a rule has weight 0, so its requests get an error.',
    effect: warned,
    source:
      'Gateway API v1.7.0, BackendRef.weight ("If weight is set to 0, no traffic should be forwarded for this entry")',
  },
  function judge(backendRefs: readonly BackendRef[], report) {
    if (backendRefs.length === 0 || backendRefs.some((ref) => weightOf(ref) !== 0)) return;
    report({
      below: [],
      message:
        'Every backendRef of the rule has weight: 0, so all of its requests get an error. Set the weight of at least one of them to 1 or more.',
    });
  },
);
