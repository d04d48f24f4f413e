import { isDeepStrictEqual } from 'node:util';
import type { ParentNode } from '../core/graph/attachment.ts';
import type { Condition, ConditionSubject } from '../core/status/conditions.ts';
import type { OwnStatus } from '../core/status/emit.ts';
import type { ListenerStatus } from '../core/status/listeners.ts';
import type { PolicyAncestorStatus, PolicyStatus } from '../core/status/policy.ts';
import type { RouteStatus } from '../core/status/route.ts';
import { isRecord, listOf, recordOf, type JsonRecord } from '../core/text/record.ts';
import { mergeConditions } from './merge-conditions.ts';
import type { WireObject } from './ports.ts';

/** Who writes, and when (RFC 3339). */
export interface StatusContext {
  readonly controllerName: string;
  readonly now: string;
}

/**
 * The whole status that an object must have, or `same` where nothing of ours has changed. What others wrote stays as
 * and where it is: condition types that are not ours, entries of other controllers, unknown fields. `ours` is
 * missing where the object is no longer ours: then our entries of a route or policy go, and everything else is left to its
 * new owner.
 *
 * @param live the object as the API server holds it
 */
export function mergeStatus(live: WireObject, ours: OwnStatus | undefined, context: StatusContext): JsonRecord | 'same' {
  const status = recordOf(live['status']);
  const merged = mergedStatus(live, ours, context);
  // The order of keys does not count: the API server has its own.
  return isDeepStrictEqual(merged, status) ? 'same' : merged;
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
  return { ...status, ...rest, conditions: mergeConditions(status['conditions'], conditions, { ...place, subject: subjectOf(ours) }), ...listeners };
}

function withoutOurs(live: WireObject, context: StatusContext): JsonRecord {
  const status = recordOf(live['status']);
  const fields = (['parents', 'ancestors'] as const).filter((field) => listOf(status[field]).length > 0);
  return { ...status, ...Object.fromEntries(fields.map((field) => [field, mergeEntries(live, field, { ours: [], context })])) };
}

/** The condition types that are ours where a status has conditions of its own. */
function subjectOf(ours: Exclude<OwnStatus, PolicyStatus | RouteStatus>): ConditionSubject {
  if ('addresses' in ours) return 'gateway';
  return 'listeners' in ours ? 'listenerSet' : 'gatewayClass';
}

interface TransitionContext {
  readonly generation: number;
  readonly now: string;
}

function mergeListeners(status: JsonRecord, ours: readonly ListenerStatus[], place: TransitionContext): readonly JsonRecord[] {
  const byName = firstBy(listOf(status['listeners']), (entry) => entry['name']);
  return ours.map((listener) => mergeListener(byName.get(listener.name), listener, place));
}

function mergeListener(live: JsonRecord = {}, { name, supportedKinds, attachedRoutes, conditions }: ListenerStatus, place: TransitionContext): JsonRecord {
  return { ...live, name, supportedKinds, attachedRoutes, conditions: mergeConditions(live['conditions'], conditions, { ...place, subject: 'listener' }) };
}

/** Statuses that controllers share entry by entry: how an entry is told apart, what of it is ours, and how many there may be. */
const shared = {
  parents: { ref: 'parentRef', subject: 'route', most: 32 },
  ancestors: { ref: 'ancestorRef', subject: 'policy', most: 16 },
} as const;

/** What we say of a parent or an ancestor. */
export interface StatusEntry {
  readonly ref: ParentNode | PolicyAncestorStatus['ancestorRef'];
  readonly conditions: readonly Condition[];
}

/** The lists that are shared, of a status of ours. */
function entriesOf(ours: RouteStatus | PolicyStatus): readonly [keyof typeof shared, readonly StatusEntry[]] {
  if ('parents' in ours) return ['parents', ours.parents.map(({ parentRef, conditions }) => ({ ref: parentRef, conditions }))];
  return ['ancestors', ours.ancestors.map(({ ancestorRef, conditions }) => ({ ref: ancestorRef, conditions }))];
}

/**
 * Our entries take the places of our former ones, in the order of the specification; more are appended as long as
 * there is room. Where another controller's entry stands does not change.
 */
function mergeEntries(live: WireObject, field: keyof typeof shared, { ours, context }: { readonly ours: readonly StatusEntry[]; readonly context: StatusContext }): readonly unknown[] {
  const { ref: refField, subject, most } = shared[field];
  const { controllerName, now } = context;
  const namespace = live.metadata.namespace ?? '';
  const entries = listOf(recordOf(live['status'])[field]);
  const isOurs = (entry: unknown): entry is JsonRecord => isRecord(entry) && entry['controllerName'] === controllerName;
  const former = firstBy(entries.filter(isOurs), (entry) => refKey(recordOf(entry[refField]), namespace));
  const place = { generation: live.metadata.generation ?? 0, now, subject };
  const waiting = ours.map(({ ref, conditions }): JsonRecord => {
    const before = former.get(refKey({ ...ref }, namespace));
    // The entry's reference stays in its present form where it means the same.
    return { ...before, [refField]: before?.[refField] ?? ref, controllerName, conditions: mergeConditions(before?.['conditions'], conditions, place) };
  });
  const kept = entries.flatMap((entry) => (isOurs(entry) ? waiting.splice(0, 1) : [entry]));
  // With more of them the API server would refuse the whole status.
  return [...kept, ...waiting.slice(0, Math.max(0, most - kept.length))];
}

/** Our entries that a merged status has no room for. Those that have a place are the first ones. */
export function withoutRoom(ours: OwnStatus | undefined, status: unknown, controllerName: string): readonly StatusEntry[] {
  if (ours === undefined || !('parents' in ours || 'ancestors' in ours)) return [];
  const [field, entries] = entriesOf(ours);
  const placed = listOf(recordOf(status)[field]).filter((entry) => isRecord(entry) && entry['controllerName'] === controllerName);
  return entries.slice(placed.length);
}

/** Equal for references that mean the same: defaults are filled in (ParentReference). */
function refKey(ref: JsonRecord, ownNamespace: string): string {
  const { group = 'gateway.networking.k8s.io', kind = 'Gateway', namespace = ownNamespace, name, sectionName = '', port = 0 } = ref;
  // What is no text and no number equals nothing of ours, and may be too deep to be written out.
  return JSON.stringify([group, kind, namespace, name, sectionName, port].map((part) => (typeof part === 'object' ? null : part)));
}

function firstBy(entries: readonly unknown[], keyOf: (entry: JsonRecord) => unknown): ReadonlyMap<unknown, JsonRecord> {
  return new Map(entries.filter(isRecord).toReversed().map((entry) => [keyOf(entry), entry]));
}
