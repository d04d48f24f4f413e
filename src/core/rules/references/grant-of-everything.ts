import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Party } from './grants.ts';

export const grantOfEverything = unenforcedRule(
  {
    id: 'grant-of-everything',
    summary: 'A ReferenceGrant permits references to every object of a kind.',
    effect: warned,
    source:
      'Gateway API v1.7.0, ReferenceGrantTo.name (unset: all of that kind); Gateway API, "Security considerations"',
  },
  function judge({ kind = '', name = '' }: Party, report) {
    if (name !== '') return;
    report({
      below: ['name'],
      message: `name is not set, so the grant permits references to every ${display(kind)} in this namespace, including future ones. Set the name of each object that you want to permit.`,
    });
  },
);
