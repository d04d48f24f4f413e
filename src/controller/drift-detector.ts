import { isRecord } from '../core/text/record.ts';
import type { ObjectChange, WireObject } from './ports.ts';
import { isNewer } from './resource-version.ts';

export interface DriftDetectorOptions {
  /** Called when an object that was applied for a Gateway is no longer as it was applied, or gone. */
  readonly onDrift: (gateway: string, object: WireObject) => void;
  readonly pace?: DriftPace;
}

/**
 * Where somebody changes an object again and again, `most` times within `window` milliseconds are told at once, and what
 * comes then when as much time has passed: two that undo each other's changes must not keep the API server busy.
 */
export interface DriftPace {
  readonly most: number;
  readonly window: number;
}

const defaultPace: DriftPace = { most: 5, window: 60_000 };

interface TrackedObject {
  readonly gateway: string;
  /** As it was asked for: its fields are ours, and all others are not. */
  readonly desired: WireObject;
  /** What the API server made of it; nothing while that is not known. */
  applied: State | undefined;
  /** How it was seen last. */
  seen: State | 'gone' | undefined;
}

interface State {
  /** resourceVersion. */
  readonly version: string;
  /** Our fields, as JSON. */
  readonly fields: string;
}

/** Remembers objects as they were applied, and notices when somebody changes fields that are ours, or deletes one. */
export class DriftDetector {
  readonly #options: DriftDetectorOptions;
  /** `kind/namespace/name` → object. */
  readonly #objects = new Map<string, TrackedObject>();
  /** Object → when it deviated of late. */
  readonly #driftTimes = new Map<string, readonly number[]>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: DriftDetectorOptions) {
    this.#options = options;
  }

  /** The object is about to be applied; what is seen of it meanwhile is judged by what comes of that. */
  applying(gateway: string, desired: WireObject): void {
    this.#objects.set(keyOf(desired), { gateway, desired, applied: undefined, seen: undefined });
  }

  /** The object was applied; `result` is the API server's. */
  applied(desired: WireObject, result: WireObject | undefined): void {
    const kept = this.#objects.get(keyOf(desired));
    if (kept === undefined || result === undefined) return;
    kept.applied = stateOf(desired, result);
    this.#judge(kept);
  }

  /** The object is nobody's business any more. */
  forget(object: WireObject): void {
    const key = keyOf(object);
    this.#objects.delete(key);
    this.#driftTimes.delete(key);
  }

  /** An event about any object. */
  observe(event: ObjectChange): void {
    const { kind, namespace, name } = event.ref;
    const kept = this.#objects.get(`${kind}/${namespace}/${name}`);
    if (kept === undefined) return;
    kept.seen = event.type === 'delete' ? 'gone' : stateOf(kept.desired, event.object);
    this.#judge(kept);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#objects.clear();
  }

  #judge(kept: TrackedObject): void {
    const { applied, seen } = kept;
    if (applied === undefined || seen === undefined) return;
    if (seen !== 'gone' && (seen.fields === applied.fields || !isNewer(seen.version, applied.version))) return;
    // Told once; it is applied anew.
    kept.applied = undefined;
    this.#tell(kept);
  }

  #tell({ gateway, desired }: TrackedObject): void {
    const { onDrift, pace: { most, window } = defaultPace } = this.#options;
    const [key, now] = [keyOf(desired), performance.now()];
    const recent = (this.#driftTimes.get(key) ?? []).filter((at) => now - at < window);
    this.#driftTimes.set(key, [...recent, now]);
    if (recent.length < most) onDrift(gateway, desired);
    else if (!this.#timers.has(key)) {
      this.#timers.set(key, setTimeout(() => {
        this.#timers.delete(key);
        onDrift(gateway, desired);
      }, window));
    }
  }
}

function keyOf({ kind = '', metadata: { namespace = '', name } }: WireObject): string {
  return `${kind}/${namespace}/${name}`;
}

function stateOf({ apiVersion: _apiVersion, kind: _kind, ...desired }: WireObject, object: WireObject): State {
  return { version: object.metadata.resourceVersion ?? '', fields: JSON.stringify(sameFields(desired, object)) };
}

/** What `object` has where `desired` has something: the rest is the business of others, or a default. What is empty may be absent. */
function sameFields(desired: unknown, object: unknown): unknown {
  if (Array.isArray(desired)) return Array.isArray(object) && object.length === desired.length ? desired.map((item, index) => sameFields(item, object[index])) : object;
  if (!isRecord(desired)) return object;
  const fields = object ?? {};
  return isRecord(fields) ? Object.fromEntries(Object.keys(desired).map((name) => [name, sameFields(desired[name], fields[name])])) : fields;
}
