import { parseDuration } from '../../text/duration.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Session } from './sessions.ts';

export const sessionEndsAtOnce = unenforcedRule({
  id: 'session-ends-at-once',
  summary: 'A session ends as soon as it begins.',
  effect: warned,
  source: 'Gateway API v1.7.0, SessionPersistence.absoluteTimeout; GEP-1619',
}, function judge({ absoluteTimeout }: Session, report) {
  const parsed = absoluteTimeout === undefined ? undefined : parseDuration(absoluteTimeout);
  if (parsed?.ok !== true || parsed.milliseconds > 0) return;
  report({ below: ['absoluteTimeout'], value: absoluteTimeout ?? '', message: `absoluteTimeout: ${absoluteTimeout} ends every session at once. Write how long one may last, e.g. 1h, or leave it out for no end.` });
});
