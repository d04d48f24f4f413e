import { parentKey, parentNode, type ParentNode } from '../core/semantics/parent-reference.ts';
import type { Condition, ConditionSubject } from '../core/status/conditions.ts';
import type { OwnStatus } from '../core/status/emit.ts';
import type { ListenerStatus } from '../core/status/listeners.ts';
import type { PolicyAncestorStatus, PolicyStatus } from '../core/status/policy.ts';
import type { RouteStatus } from '../core/status/route.ts';
import { sameJson } from '../core/text/compare-json.ts';
import { isRecord, listOf, recordOf, type JsonRecord } from '../core/text/record.ts';
import { mergeConditions } from './merge-conditions.ts';
import type { WireObject } from './ports.ts';

/** The writer, and the time of the write (RFC 3339). */
export interface StatusContext {
  readonly controllerName: string;
  readonly now: string;
}

/**
 * Merges our status into the live one.
 *
 * What others wrote keeps its content and position: condition types that are not ours, entries of other controllers, unknown fields.
 *
 * @param live the object as the API server holds it
 * @param ours our status; `undefined` if the object is no longer ours: our entries of a route or policy are removed, and the rest
 *   is left to the new owner
 * @returns the whole status, or `same` if none of our parts has changed
 */
export function mergeStatus(
  live: WireObject,
  ours: OwnStatus | undefined,
  context: StatusContext,
): JsonRecord | 'same' {
  const status = recordOf(live['status']);
  const merged = mergedStatus(live, ours, context);
  // The order of keys does not matter: the API server has its own.
  return sameJson(merged, status) ? 'same' : merged;
}

function mergedStatus(live: WireObject, ours: OwnStatus | undefined, context: StatusContext): JsonRecord {
  const status = recordOf(live['status']);
  const place = { generation: live.metadata.generation ?? 0, now: context.now };
  if (ours === undefined) return withoutOurs(live, context);
  if ('parents' in ours || 'ancestors' in ours) {
    const [field, entries] = entriesOf(ours);
    return { ...status, [field]: mergeEntries(live, field, { ours: entries, context }) };
  }
  const { conditions, ...rest } = ours;
  const listeners = 'listeners' in ours ? { listeners: mergeListeners(status, ours.listeners, place) } : {};
  return {
    ...status,
    ...rest,
    conditions: mergeConditions(status['conditions'], conditions, { ...place, subject: subjectOf(ours) }),
    ...listeners,
  };
}

function withoutOurs(live: WireObject, context: StatusContext): JsonRecord {
  const status = recordOf(live['status']);
  const fields = (['parents', 'ancestors'] as const).filter((field) => listOf(status[field]).length > 0);
  return {
    ...status,
    ...Object.fromEntries(fields.map((field) => [field, mergeEntries(live, field, { ours: [], context })])),
  };
}

/** The condition types that we own on kinds that have their own conditions. */
function subjectOf(ours: Exclude<OwnStatus, PolicyStatus | RouteStatus>): ConditionSubject {
  if ('addresses' in ours) return 'gateway';
  return 'listeners' in ours ? 'listenerSet' : 'gatewayClass';
}

interface TransitionContext {
  readonly generation: number;
  readonly now: string;
}

function mergeListeners(
  status: JsonRecord,
  ours: readonly ListenerStatus[],
  place: TransitionContext,
): readonly JsonRecord[] {
  const byName = firstBy(listOf(status['listeners']), (entry) => entry['name']);
  return ours.map((listener) => mergeListener(byName.get(listener.name), listener, place));
}

function mergeListener(
  live: JsonRecord = {},
  { name, supportedKinds, attachedRoutes, conditions }: ListenerStatus,
  place: TransitionContext,
): JsonRecord {
  return {
    ...live,
    name,
    supportedKinds,
    attachedRoutes,
    conditions: mergeConditions(live['conditions'], conditions, { ...place, subject: 'listener' }),
  };
}

/** Status lists that controllers share entry by entry: the key of an entry, the conditions that we own, and the maximum length. */
const shared = {
  parents: { ref: 'parentRef', subject: 'route', maxEntries: 32 },
  ancestors: { ref: 'ancestorRef', subject: 'policy', maxEntries: 16 },
} as const;

/** Our status entry for a parent or an ancestor. */
export interface StatusEntry {
  readonly ref: ParentNode | PolicyAncestorStatus['ancestorRef'];
  readonly conditions: readonly Condition[];
}

/** The shared lists of a status. */
function entriesOf(ours: RouteStatus | PolicyStatus): readonly [keyof typeof shared, readonly StatusEntry[]] {
  if ('parents' in ours)
    return ['parents', ours.parents.map(({ parentRef, conditions }) => ({ ref: parentRef, conditions }))];
  return ['ancestors', ours.ancestors.map(({ ancestorRef, conditions }) => ({ ref: ancestorRef, conditions }))];
}

/**
 * Replaces our former entries in place, in the order of the specification, and appends further ones as long as there is room.
 * Entries of other controllers keep their positions.
 */
function mergeEntries(
  live: WireObject,
  field: keyof typeof shared,
  { ours, context }: { readonly ours: readonly StatusEntry[]; readonly context: StatusContext },
): readonly unknown[] {
  const { ref: refField, subject, maxEntries } = shared[field];
  const { controllerName, now } = context;
  const namespace = live.metadata.namespace ?? '';
  const entries = listOf(recordOf(live['status'])[field]);
  const isOurs = (entry: unknown): entry is JsonRecord => isRecord(entry) && entry['controllerName'] === controllerName;
  const former = firstBy(entries.filter(isOurs), (entry) => refKey(recordOf(entry[refField]), namespace));
  const place = { generation: live.metadata.generation ?? 0, now, subject };
  const waiting = ours.map(({ ref, conditions }): JsonRecord => {
    const before = former.get(refKey({ ...ref }, namespace));
    // An equivalent reference keeps its present form.
    return {
      ...before,
      [refField]: before?.[refField] ?? ref,
      controllerName,
      conditions: mergeConditions(before?.['conditions'], conditions, place),
    };
  });
  const kept = entries.flatMap((entry) => (isOurs(entry) ? waiting.splice(0, 1) : [entry]));
  // The API server would reject the whole status if it had more entries.
  return [...kept, ...waiting.slice(0, Math.max(0, maxEntries - kept.length))];
}

/** Our entries that do not fit into a merged status. Entries that already have a place come first. */
export function withoutRoom(
  ours: OwnStatus | undefined,
  status: unknown,
  controllerName: string,
): readonly StatusEntry[] {
  if (ours === undefined || !('parents' in ours || 'ancestors' in ours)) return [];
  const [field, entries] = entriesOf(ours);
  const placed = listOf(recordOf(status)[field]).filter(
    (entry) => isRecord(entry) && entry['controllerName'] === controllerName,
  );
  return entries.slice(placed.length);
}

/** A key that is equal for equivalent references: it fills in defaults (ParentReference). */
function refKey(ref: JsonRecord, ownNamespace: string): string {
  // A part that is neither text nor number equals none of ours, also if it is null, and may be nested too deeply for JSON.stringify.
  const parts = Object.entries(ref).map(([name, part]) => [name, typeof part === 'object' ? false : part] as const);
  return parentKey(parentNode(Object.fromEntries(parts), ownNamespace));
}

function firstBy(entries: readonly unknown[], keyOf: (entry: JsonRecord) => unknown): ReadonlyMap<unknown, JsonRecord> {
  return new Map(
    entries
      .filter(isRecord)
      .toReversed()
      .map((entry) => [keyOf(entry), entry]),
  );
}
