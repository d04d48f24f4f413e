import { visitSemantic } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { parseDuration } from '../../text/duration.ts';
import { denied } from '../engine/effects.ts';
import { invalidObject } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { sessionKinds } from '../sessions/sessions.ts';

/**
 * The schema's pattern only rejects the value. This rule explains the problem, and also applies if the pattern was removed from
 * the CRD.
 */
export const durationForm = rule({
  id: 'duration-form',
  kinds: sessionKinds,
  summary: 'A duration is not in the format of GEP-2257.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['reason', 'scope'],
  source: 'GEP-2257, Gateway API Duration Format',
  check(subject, _read, report) {
    const frame =
      subject.kind === 'XBackendTrafficPolicy' || subject.kind === 'XBackend' ? { consequence: invalidObject } : {};
    visitSemantic(subject.kind, subject, 'duration', (place, value) => {
      const parsed = parseDuration(value);
      if (!parsed.ok)
        report({
          path: place.path,
          value: display(value),
          ...frame,
          message: `Invalid duration ${quote(value)}: ${parsed.problem}.`,
        });
    });
  },
});
