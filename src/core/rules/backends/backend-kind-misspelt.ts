import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { judgeKind } from './backend-kinds.ts';

/** References of evaluated kinds are resolved, which reports this and more. */
export const backendKindMisspelt = unenforcedRule(
  {
    id: 'backend-kind-misspelt',
    summary: 'A backend reference names a kind that does not exist, but that is similar to one that does.',
    effect: warned,
    source: 'Gateway API v1.7.0, BackendObjectReference.group and .kind; GEP-4894',
  },
  judgeKind,
);
