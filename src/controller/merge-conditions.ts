import { conditionTypes, type Condition, type ConditionSubject } from '../core/status/conditions.ts';
import { isRecord, listOf, type JsonRecord } from '../core/text/record.ts';

/** The context of a merge of conditions. */
export interface ConditionMerge {
  /** The kind of thing that the conditions are about. */
  readonly subject: ConditionSubject;
  /** metadata.generation of the live object. */
  readonly generation: number;
  /** RFC 3339. */
  readonly now: string;
}

const maxConditions = 8;

/**
 * Merges our conditions into a list. A condition replaces the one of its type in place. New ones are appended in the order given.
 * Our conditions that no longer hold are removed. Conditions of other types keep their content and position. lastTransitionTime
 * changes only with the status. A condition for a newer generation than ours is kept: another writer has newer information.
 *
 * @param live the present list, any JSON
 */
export function mergeConditions(live: unknown, ours: readonly Condition[], merge: ConditionMerge): readonly unknown[] {
  const owned: readonly string[] = conditionTypes[merge.subject];
  const waiting = new Map(ours.map((condition) => [condition.type, condition]));
  const seen = new Set<string>();
  const kept = listOf(live).flatMap((entry) => {
    const type = isRecord(entry) ? entry['type'] : undefined;
    // Entries that are no conditions cannot be stored again: the API server would reject the whole status.
    if (!isRecord(entry) || typeof type !== 'string') return [];
    if (!owned.includes(type)) return [entry];
    const condition = waiting.get(type);
    if (seen.has(type) || condition === undefined) return [];
    seen.add(type);
    waiting.delete(type);
    return [replaceCondition(entry, condition, merge)];
  });
  const added = [...waiting.values()].map((condition) => withTime(condition, merge.now));
  // The API server would reject the whole status if it had more conditions.
  return [...kept, ...added.slice(0, Math.max(0, maxConditions - kept.length))];
}

function replaceCondition(live: JsonRecord, condition: Condition, { generation, now }: ConditionMerge): unknown {
  const observed = live['observedGeneration'];
  // A generation above the object's own is a leftover, for example of a restored backup.
  if (typeof observed === 'number' && observed > condition.observedGeneration && observed <= generation) return live;
  const since = live['lastTransitionTime'];
  return withTime(condition, live['status'] === condition.status && typeof since === 'string' ? since : now);
}

function withTime(
  { type, status, observedGeneration, reason, message }: Condition,
  lastTransitionTime: string,
): JsonRecord {
  return { type, status, observedGeneration, lastTransitionTime, reason, message };
}
