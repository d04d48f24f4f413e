import { isDeepStrictEqual } from 'node:util';
import type { OwnStatus } from '../core/status/emit.ts';
import type { ListenerStatus } from '../core/status/listeners.ts';
import type { RouteParentStatus, RouteStatus } from '../core/status/route.ts';
import { mergeConditions } from './conditions.ts';
import { isRecord, listOf, recordOf, type JsonRecord } from './json.ts';
import type { WireObject } from './ports.ts';

/** Who writes, and when (RFC 3339). */
export interface StatusContext {
  readonly controllerName: string;
  readonly now: string;
}

/** Condition types that are ours to write, by where they stand. Negative ones are here while they are absent, too. */
const owned = {
  gatewayClass: new Set(['Accepted', 'SupportedVersion']),
  gateway: new Set(['Accepted', 'Programmed', 'ResolvedRefs', 'InsecureFrontendValidationMode']),
  listenerSet: new Set(['Accepted', 'Programmed']),
  listener: new Set(['Accepted', 'Programmed', 'ResolvedRefs', 'Conflicted', 'OverlappingTLSConfig']),
  route: new Set(['Accepted', 'ResolvedRefs', 'PartiallyInvalid']),
} as const;

/**
 * The whole status that an object must have, or `same` where nothing of ours has changed. What others wrote stays as
 * and where it is: condition types that are not ours, entries of other controllers, unknown fields. `ours` is
 * missing where the object is no longer ours: then our entries of a route go, and everything else is left to its
 * new owner.
 *
 * @param live the object as the API server holds it
 */
export function mergeStatus(live: WireObject, ours: OwnStatus | undefined, context: StatusContext): JsonRecord | 'same' {
  const status = recordOf(live['status']);
  const merged = mergedStatus(live, ours, context);
  // The order of keys does not count: the API server has its own.
  return merged === undefined || isDeepStrictEqual(merged, status) ? 'same' : merged;
}

function mergedStatus(live: WireObject, ours: OwnStatus | undefined, context: StatusContext): JsonRecord | undefined {
  const status = recordOf(live['status']);
  const place = { generation: live.metadata.generation ?? 0, now: context.now };
  if (ours === undefined) return listOf(status['parents']).length === 0 ? undefined : { ...status, parents: mergeParents(live, [], context) };
  if ('parents' in ours) return { ...status, parents: mergeParents(live, ours.parents, context) };
  const { conditions, ...rest } = ours;
  const listeners = 'listeners' in ours ? { listeners: mergeListeners(status, ours.listeners, place) } : {};
  return { ...status, ...rest, conditions: mergeConditions(status['conditions'], conditions, { ...place, owned: ownedBy(ours) }), ...listeners };
}

/** The condition types that are ours where a status has conditions of its own. */
function ownedBy(ours: Exclude<OwnStatus, RouteStatus>): ReadonlySet<string> {
  if ('addresses' in ours) return owned.gateway;
  return 'listeners' in ours ? owned.listenerSet : owned.gatewayClass;
}

interface Place {
  readonly generation: number;
  readonly now: string;
}

function mergeListeners(status: JsonRecord, ours: readonly ListenerStatus[], place: Place): readonly JsonRecord[] {
  const byName = firstBy(listOf(status['listeners']), (entry) => entry['name']);
  return ours.map((listener) => mergeListener(byName.get(listener.name), listener, place));
}

function mergeListener(live: JsonRecord = {}, { name, supportedKinds, attachedRoutes, conditions }: ListenerStatus, place: Place): JsonRecord {
  return { ...live, name, supportedKinds, attachedRoutes, conditions: mergeConditions(live['conditions'], conditions, { ...place, owned: owned.listener }) };
}

/**
 * Our entries take the places of our former ones, in the order of the specification; more are appended. Where
 * another controller's entry stands does not change.
 */
function mergeParents(live: WireObject, ours: readonly RouteParentStatus[], context: StatusContext): readonly unknown[] {
  const namespace = live.metadata.namespace ?? '';
  const entries = listOf(recordOf(live['status'])['parents']);
  const isOurs = (entry: unknown): entry is JsonRecord => isRecord(entry) && entry['controllerName'] === context.controllerName;
  const former = firstBy(entries.filter(isOurs), (entry) => parentKey(recordOf(entry['parentRef']), namespace));
  const place = { generation: live.metadata.generation ?? 0, now: context.now, owned: owned.route };
  const waiting = ours.map(({ parentRef, controllerName, conditions }): JsonRecord => {
    const before = former.get(parentKey({ ...parentRef }, namespace));
    // The entry's parentRef stays in its present form where it means the same.
    return { ...before, parentRef: before?.['parentRef'] ?? parentRef, controllerName, conditions: mergeConditions(before?.['conditions'], conditions, place) };
  });
  const kept = entries.flatMap((entry) => (isOurs(entry) ? waiting.splice(0, 1) : [entry]));
  return [...kept, ...waiting];
}

/** Equal for parentRefs that mean the same: defaults are filled in (ParentReference). */
function parentKey(ref: JsonRecord, routeNamespace: string): string {
  const { group = 'gateway.networking.k8s.io', kind = 'Gateway', namespace = routeNamespace, name, sectionName = '', port = 0 } = ref;
  return JSON.stringify([group, kind, namespace, name, sectionName, port]);
}

function firstBy(entries: readonly unknown[], keyOf: (entry: JsonRecord) => unknown): ReadonlyMap<unknown, JsonRecord> {
  return new Map(entries.filter(isRecord).toReversed().map((entry) => [keyOf(entry), entry]));
}
