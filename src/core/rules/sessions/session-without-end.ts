import { demand, specificationRule, type ReportViolation } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const sessionWithoutEnd = specificationRule({
  id: 'session-without-end',
  summary: 'A permanent session cookie has no absoluteTimeout.',
  source: 'Gateway API v1.7.0, SessionPersistence.absoluteTimeout ("required when cookie.lifetimeType is Permanent")',
});

type Session = ViewAt<'HTTPRoute', 'spec.rules[].sessionPersistence'>;

function judge(field: 'cookie' | 'cookieConfig', session: Session, report: ReportViolation): void {
  if (session[field]?.lifetimeType !== 'Permanent' || session.absoluteTimeout !== undefined) return;
  report({
    below: ['absoluteTimeout'],
    message: `absoluteTimeout is required with ${field}.lifetimeType: Permanent. Set absoluteTimeout, for example 24h, or use lifetimeType: Session.`,
  });
}

export const cookieEnds = demand(
  sessionWithoutEnd,
  (session: Session, report) => judge('cookie', session, report),
  'cookie',
);
/** The location of the field before v1.7. */
export const cookieConfigEnds = demand(
  sessionWithoutEnd,
  (session: Session, report) => judge('cookieConfig', session, report),
  'cookieConfig',
);
