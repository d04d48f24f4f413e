import { wallNow } from '../../time/clock.ts';
import { countOutcome } from '../counters.ts';
import type { DataPlane } from '../data-plane.ts';
import type { Connection } from '../messages/connection.ts';
import { answerFor } from '../messages/reasons.ts';
import type { AnswerReason } from '../messages/reasons.ts';

/** Counts and logs bytes that are not a valid request. */
export function recordRefusal({ counters, accessLog }: DataPlane, connection: Connection, reason: AnswerReason): void {
  const { status } = answerFor(reason);
  counters.requests += 1;
  countOutcome(counters, status, reason, 0);
  accessLog?.({
    time: new Date(wallNow()).toISOString(),
    client: connection.peer.address,
    method: '',
    status,
    bytes: 0,
    durationMs: 0,
    reason,
  });
}
