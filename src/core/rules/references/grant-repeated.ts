import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Party } from './grants.ts';

export const grantRepeated = unenforcedRule(
  {
    id: 'grant-repeated',
    summary: 'A list of a ReferenceGrant has duplicate entries.',
    effect: warned,
    source: 'Gateway API v1.7.0, ReferenceGrantSpec.from and .to',
  },
  function judge(parties: readonly Party[], report) {
    const first = new Map<string, number>();
    for (const [index, { group = '', kind = '', namespace = '', name = '' }] of parties.entries()) {
      const key = JSON.stringify([group, kind, namespace, name]);
      const before = first.get(key);
      if (before === undefined) first.set(key, index);
      else
        report({
          below: [index],
          value: display(kind),
          message: `Duplicate entry: entry ${before} of the list is the same. Remove one of them, or correct it.`,
        });
    }
  },
);
