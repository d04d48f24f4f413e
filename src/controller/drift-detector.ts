import { isRecord } from '../core/text/record.ts';
import type { ObjectChange, WireObject } from './ports.ts';
import { isNewer } from '../core/text/resource-version.ts';
import { monotonicNow } from '../time/clock.ts';
import { keyOfRef } from '../core/resources/reference.ts';

export interface DriftDetectorOptions {
  /** Called when an object differs from what was applied for a Gateway, or was deleted. */
  readonly onDrift: (gateway: string, object: WireObject) => void;
  readonly pace?: DriftPace;
}

/**
 * Limits reports about an object that changes repeatedly. `most` changes within `window` milliseconds are reported at once, further
 * ones after another `window`: two controllers that undo each other's changes must not overload the API server.
 */
export interface DriftPace {
  readonly maxWrites: number;
  readonly window: number;
}

const defaultPace: DriftPace = { maxWrites: 5, window: 60_000 };

interface TrackedObject {
  readonly gateway: string;
  /** The object as applied. We own its fields and no others. */
  readonly desired: WireObject;
  /** The object in the response of the API server. `undefined` until the response arrives. */
  applied: State | undefined;
  /** The object in the latest event. */
  seen: State | 'gone' | undefined;
}

interface State {
  /** resourceVersion. */
  readonly version: string;
  /** The fields that we own, as JSON. */
  readonly fields: string;
}

/** Tracks applied objects, and detects when someone else changes fields that we own or deletes an object. */
export class DriftDetector {
  private readonly options: DriftDetectorOptions;
  /** `kind/namespace/name` → object. */
  private readonly objects = new Map<string, TrackedObject>();
  /** Object → times of recent drift. */
  private readonly driftTimes = new Map<string, readonly number[]>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(options: DriftDetectorOptions) {
    this.options = options;
  }

  /** Call this before an apply. Events until `applied` are compared with the result of the apply. */
  applying(gateway: string, desired: WireObject): void {
    this.objects.set(keyOf(desired), { gateway, desired, applied: undefined, seen: undefined });
  }

  /** Call this after an apply. `result` is the object in the response of the API server. */
  applied(desired: WireObject, result: WireObject | undefined): void {
    const kept = this.objects.get(keyOf(desired));
    if (kept === undefined || result === undefined) return;
    kept.applied = stateOf(desired, result);
    this.judge(kept);
  }

  /** Whether an object of the same kind and name was applied, and nobody removed it since. */
  tracks({ kind, namespace, name }: ObjectChange['ref']): boolean {
    return this.objects.has(keyOfRef({ kind, namespace, name }));
  }

  /** Stops tracking an object. */
  forget(object: WireObject): void {
    const key = keyOf(object);
    this.objects.delete(key);
    this.driftTimes.delete(key);
  }

  /** Takes an event about any object. */
  observe(event: ObjectChange): void {
    const { kind, namespace, name } = event.ref;
    const kept = this.objects.get(keyOfRef({ kind, namespace, name }));
    if (kept === undefined) return;
    kept.seen = event.type === 'delete' ? 'gone' : stateOf(kept.desired, event.object);
    this.judge(kept);
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.objects.clear();
  }

  private judge(kept: TrackedObject): void {
    const { applied, seen } = kept;
    if (applied === undefined || seen === undefined) return;
    if (seen !== 'gone' && (seen.fields === applied.fields || !isNewer(seen.version, applied.version))) return;
    // Reports the drift once. The object is applied again.
    kept.applied = undefined;
    this.tell(kept);
  }

  private tell({ gateway, desired }: TrackedObject): void {
    const { onDrift, pace: { maxWrites, window } = defaultPace } = this.options;
    const [key, now] = [keyOf(desired), monotonicNow()];
    const recent = (this.driftTimes.get(key) ?? []).filter((at) => now - at < window);
    this.driftTimes.set(key, [...recent, now]);
    if (recent.length < maxWrites) onDrift(gateway, desired);
    else if (!this.timers.has(key)) {
      this.timers.set(
        key,
        setTimeout(() => {
          this.timers.delete(key);
          onDrift(gateway, desired);
        }, window),
      );
    }
  }
}

function keyOf({ kind = '', metadata: { namespace = '', name } }: WireObject): string {
  return keyOfRef({ kind, namespace, name });
}

function stateOf({ apiVersion: _apiVersion, kind: _kind, ...desired }: WireObject, object: WireObject): State {
  return { version: object.metadata.resourceVersion ?? '', fields: JSON.stringify(sameFields(desired, object)) };
}

/** Fields that server-side apply replaces as a whole: the selector of a Service has labels of one manager only. */
const atomicFields: ReadonlySet<string> = new Set(['selector']);

/**
 * Returns the part of `object` that `desired` sets. The rest is a default or belongs to others, except in fields that are replaced as a whole.
 * An absent field equals an empty one.
 */
export function sameFields(desired: unknown, object: unknown): unknown {
  if (Array.isArray(desired))
    return Array.isArray(object) && object.length === desired.length
      ? desired.map((item, index) => sameFields(item, object[index]))
      : object;
  if (!isRecord(desired)) return object;
  const fields = object ?? {};
  return isRecord(fields)
    ? Object.fromEntries(
        Object.keys(desired).map((name) => [
          name,
          atomicFields.has(name) ? fields[name] : sameFields(desired[name], fields[name]),
        ]),
      )
    : fields;
}
