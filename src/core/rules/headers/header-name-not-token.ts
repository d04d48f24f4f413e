import { requestRouteKinds } from '../../graph/protocols.ts';
import { unreadableString, visitSemantic, type Place } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { isToken } from '../../text/header.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

/** The schema checks names of headers to set, add and match, but not names in plain lists such as `remove`. */
export const headerNameNotToken = rule({
  id: 'header-name-not-token',
  kinds: [...requestRouteKinds, 'Gateway', 'ListenerSet'],
  summary: 'A header name is invalid.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['reason', 'scope'],
  source: 'Gateway API v1.7.0, HTTPHeaderFilter.remove; RFC 9110 section 5.1 (field-name = token)',
  check(subject, _read, report) {
    const judge = (place: Place, name: string, ...below: Path): void => {
      if (name === unreadableString || isToken(name)) return;
      const path = [...place.path, ...below];
      report({
        path,
        value: display(name),
        consequence: unsupportedValueAt(path),
        message: `Invalid header name ${quote(name)}. ${cure(name)}`,
      });
    };
    visitSemantic(subject.kind, subject, 'headerName', (place, name) => judge(place, name));
    visitSemantic(subject.kind, subject, 'headerNameList', (place, names) => {
      for (const [index, name] of names.entries()) judge(place, name, index);
    });
  },
});

function cure(name: string): string {
  const [bare = ''] = name.trim().split(':', 1);
  if (isToken(bare)) return `Use ${bare}, without spaces, colon and value.`;
  return name === ''
    ? 'Set a name, or remove the entry.'
    : 'Use letters, digits and hyphens, for example x-request-id.';
}
