import { millisecondsOf } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Session } from './sessions.ts';

export const sessionEndsAtOnce = unenforcedRule(
  {
    id: 'session-ends-at-once',
    summary: 'A session ends as soon as it starts.',
    effect: warned,
    source: 'Gateway API v1.7.0, SessionPersistence.absoluteTimeout; GEP-1619',
  },
  function judge({ absoluteTimeout }: Session, report) {
    if (millisecondsOf(absoluteTimeout) !== 0) return;
    report({
      below: ['absoluteTimeout'],
      value: absoluteTimeout ?? '',
      message: `absoluteTimeout: ${absoluteTimeout} ends every session immediately. Use the maximum lifetime of a session, for example 1h, or remove it for no limit.`,
    });
  },
);
