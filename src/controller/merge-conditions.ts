import { conditionTypes, type Condition, type ConditionSubject } from '../core/status/conditions.ts';
import { isRecord, listOf, type JsonRecord } from '../core/text/record.ts';

/** What a list of conditions is merged by. */
export interface ConditionMerge {
  /** What they are about. */
  readonly subject: ConditionSubject;
  /** metadata.generation of the live object. */
  readonly generation: number;
  /** RFC 3339. */
  readonly now: string;
}

const mostConditions = 8;

/**
 * A list of conditions with ours brought up to date: in place where one of that type is, else at the end, in the order
 * given. Ours that hold no longer go; conditions of other types stay as and where they are. lastTransitionTime
 * changes with the status only. What was written for a newer generation than ours is kept: somebody knows more.
 *
 * @param live the present list, any JSON
 */
export function mergeConditions(live: unknown, ours: readonly Condition[], merge: ConditionMerge): readonly unknown[] {
  const owned: readonly string[] = conditionTypes[merge.subject];
  const waiting = new Map(ours.map((condition) => [condition.type, condition]));
  const seen = new Set<string>();
  const kept = listOf(live).flatMap((entry) => {
    const type = isRecord(entry) ? entry['type'] : undefined;
    // What is no condition cannot be stored again: the API server would refuse the whole status.
    if (!isRecord(entry) || typeof type !== 'string') return [];
    if (!owned.includes(type)) return [entry];
    const condition = waiting.get(type);
    if (seen.has(type) || condition === undefined) return [];
    seen.add(type);
    waiting.delete(type);
    return [replaceCondition(entry, condition, merge)];
  });
  const added = [...waiting.values()].map((condition) => withTime(condition, merge.now));
  // With more of them the API server would refuse the whole status.
  return [...kept, ...added.slice(0, Math.max(0, mostConditions - kept.length))];
}

function replaceCondition(live: JsonRecord, condition: Condition, { generation, now }: ConditionMerge): unknown {
  const observed = live['observedGeneration'];
  // Beyond the object's own generation it is a leftover, for example of a restored backup.
  if (typeof observed === 'number' && observed > condition.observedGeneration && observed <= generation) return live;
  const since = live['lastTransitionTime'];
  return withTime(condition, live['status'] === condition.status && typeof since === 'string' ? since : now);
}

function withTime({ type, status, observedGeneration, reason, message }: Condition, lastTransitionTime: string): JsonRecord {
  return { type, status, observedGeneration, lastTransitionTime, reason, message };
}
