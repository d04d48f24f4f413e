import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { judgeKind } from './backend-kinds.ts';

/** References of kinds that are evaluated are resolved, which tells the same and more. */
export const backendKindMisspelt = unenforcedRule({
  id: 'backend-kind-misspelt',
  summary: 'Group and kind of a reference to a backend name nothing, but are close to something.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendObjectReference.group and .kind; GEP-4894',
}, judgeKind);
