import { requestRouteKinds } from '../../graph/protocols.ts';
import { visitSemantic, type Place } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt, writtenMatchType } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

/** These values become part of requests and responses, where a line break would begin another header. */
export const controlCharacterInValue = rule({
  id: 'control-character-in-value',
  kinds: requestRouteKinds,
  summary: 'A header, query or path value contains a line break or another control character.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['scope'],
  source: 'RFC 9110 section 5.5 and RFC 3986 section 2; GEP-922 (implementations never rely on admission for escaping)',
  check(subject, _read, report) {
    const judge = (place: Place, value: string, found: string | undefined): void => {
      if (found === undefined) return;
      const { path } = place;
      report({
        path,
        value: display(value),
        consequence: unsupportedValueAt(path),
        message: `Invalid value ${quote(value)}: it contains the control character ${found}, which is not allowed in headers and URLs. Remove it. In YAML, text after "|" ends with a line break, and quoted text does not.`,
      });
    };
    // A tab is allowed whitespace in a header value.
    visitSemantic(subject.kind, subject, 'headerValue', (place, value) =>
      judge(place, value, controlCharacter(value.includes('\t') ? value.replaceAll('\t', ' ') : value)),
    );
    for (const semantic of ['queryValue', 'pathReplacement'] as const) {
      visitSemantic(subject.kind, subject, semantic, (place, value) => judge(place, value, controlCharacter(value)));
    }
    visitSemantic(subject.kind, subject, 'pathValue', (place, value, parent) => {
      // Other paths have their own syntax, which also excludes control characters.
      if (writtenMatchType(parent) === 'RegularExpression') judge(place, value, controlCharacter(value));
    });
  },
});
