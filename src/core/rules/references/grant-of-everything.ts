import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Party } from './grants.ts';

export const grantOfEverything = unenforcedRule({
  id: 'grant-of-everything',
  summary: 'A ReferenceGrant permits references to every object of a kind.',
  effect: warned,
  source: 'Gateway API v1.7.0, ReferenceGrantTo.name (unset: all of that kind); Gateway API, "Security considerations"',
}, function judge({ kind = '', name = '' }: Party, report) {
  if (name !== '') return;
  report({ below: ['name'], message: `Without name this permits references to every ${display(kind)} of this namespace, those to come among them. Write the name of each that is meant.` });
});
