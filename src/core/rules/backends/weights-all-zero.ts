import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { BackendRef } from '../routes/rule-contents.ts';

export const weightsAllZero = unenforcedRule({
  id: 'weights-all-zero',
  summary: 'Every backendRef of a rule has the weight 0, so its requests get an error.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendRef.weight ("If weight is set to 0, no traffic should be forwarded for this entry")',
}, function judge(backendRefs: readonly BackendRef[], report) {
  if (backendRefs.length === 0 || backendRefs.some(({ weight = 1 }) => weight !== 0)) return;
  report({ below: [], message: 'Every backendRef of this rule has weight: 0, so no backend gets a request and all of them get an error. Give one of them a weight of at least 1.' });
});
