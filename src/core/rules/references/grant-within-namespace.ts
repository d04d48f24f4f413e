import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';
import type { Party } from './grants.ts';

type Grant = WholeObject<{ readonly from?: readonly Party[] }>;

export const grantWithinNamespace = unenforcedRule(
  {
    id: 'grant-within-namespace',
    summary: 'A ReferenceGrant permits references from its own namespace, which need no grant.',
    effect: warned,
    source: 'Gateway API v1.7.0, ReferenceGrant (for references across namespaces)',
  },
  function judge({ metadata, spec }: Grant, report) {
    for (const [index, { namespace }] of (spec?.from ?? []).entries()) {
      if (namespace !== metadata.namespace) continue;
      report({
        below: ['spec', 'from', index, 'namespace'],
        value: display(namespace),
        message: `References within namespace ${quote(namespace)} need no ReferenceGrant. Use the namespace of the objects that refer to this one, or remove the entry.`,
      });
    }
  },
);
