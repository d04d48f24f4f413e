import { servedRouteKinds } from '../../graph/protocols.ts';
import { unreadableString, visitSemantic, type SemanticValue } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const headerActedOnTwice = rule({
  id: 'header-acted-on-twice',
  kinds: servedRouteKinds,
  summary: 'One filter sets, adds or removes the same header in more than one way, ignoring case.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPHeaderFilter; RFC 9110 section 5.1',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'headerModifier', (path, modifier) => {
      const first = new Map<string, Action>();
      for (const action of actionsOf(modifier)) {
        const key = headerKey(action.header);
        const before = first.get(key);
        if (before === undefined) first.set(key, action);
        if (before === undefined || before.list === action.list) continue;
        report({
          path: [...path, ...action.path],
          value: display(action.header),
          consequence: unsupportedValueAt(path),
          message: `The header ${quote(action.header)} is acted on under ${before.list} already, and the order of both is not defined (header names ignore case). Keep one of set, add and remove for it.`,
        });
      }
    });
  },
});

interface Action {
  readonly list: 'set' | 'add' | 'remove';
  readonly path: Path;
  readonly header: string;
}

function actionsOf({ set, add, remove }: SemanticValue<'headerModifier'>): readonly Action[] {
  const named = (list: 'set' | 'add', headers: typeof set): readonly Action[] =>
    (headers ?? []).map(({ name }, index) => ({ list, path: [list, index, 'name'], header: name ?? '' }));
  const removed = (remove ?? []).map((header, index): Action => ({ list: 'remove', path: ['remove', index], header }));
  return [...named('set', set), ...named('add', add), ...removed].filter(({ header }) => header !== '' && header !== unreadableString);
}
