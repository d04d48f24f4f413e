import { requestRouteKinds } from '../../graph/protocols.ts';
import { unreadableString, visitSemantic, type SemanticValue } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const headerActedOnTwice = rule({
  id: 'header-acted-on-twice',
  kinds: requestRouteKinds,
  summary: 'A filter names the same header in more than one of set, add and remove, ignoring case.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['scope'],
  source: 'Gateway API v1.7.0, HTTPHeaderFilter; RFC 9110 section 5.1',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'headerModifier', (place, modifier) => {
      const first = new Map<string, Action['list']>();
      for (const action of actionsOf(modifier)) {
        const { list, header } = action;
        const key = headerKey(header);
        const before = first.get(key);
        if (before === undefined) first.set(key, list);
        if (before === undefined || before === list) continue;
        const path = [...place.path, ...placeOf(action)];
        const isKept = report({
          path,
          value: display(header),
          consequence: unsupportedValueAt(path),
          message: `Duplicate header ${quote(header)}: it is also in ${before}, and the order of the two is undefined (header names ignore case). Use only one of set, add and remove for it.`,
        });
        if (!isKept) return;
      }
    });
  },
});

interface Action {
  readonly list: 'set' | 'add' | 'remove';
  readonly index: number;
  readonly header: string;
}

function* actionsOf({ set = [], add = [], remove = [] }: SemanticValue<'headerModifier'>): Generator<Action> {
  const names = { set: set.map(({ name }) => name), add: add.map(({ name }) => name), remove };
  for (const list of ['set', 'add', 'remove'] as const) {
    for (const [index, header = ''] of names[list].entries())
      if (header !== '' && header !== unreadableString) yield { list, index, header };
  }
}

function placeOf({ list, index }: Action): Path {
  return list === 'remove' ? [list, index] : [list, index, 'name'];
}
