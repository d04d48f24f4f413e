import { gatewayGroups, knownKinds, tables, type KindEntry } from '../../core/schema/index.ts';
import { keyOfRef, type ObjectRef } from '../../core/resources/reference.ts';
import { isRecord } from '../../core/text/record.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import type { FollowedKind, KubernetesObject, ObjectEvent } from '../../kubernetes/index.ts';

const entries: readonly KindEntry[] = [...Object.values<KindEntry>(tables), ...knownKinds];

/** The kinds that the audit judges: all kinds of the Gateway API, and Namespaces. */
export const auditedKinds: readonly FollowedKind[] = entries
  .filter(({ group, kind }) => gatewayGroups.includes(group) || (group === '' && kind === 'Namespace'))
  .map((entry) => ({ entry }));

/** A stored object. */
export interface StoredObject extends ObjectRef {
  /** The object without its status, as JSON: text takes a fraction of the memory. */
  readonly text: string;
}

/**
 * The stored objects of the audited kinds, and those that have to be judged. Namespaces take turns, so one with thousands of objects that
 * change all the time does not delay the others.
 */
export class StoredObjects {
  private readonly objects = new Map<string, StoredObject>();
  private readonly byNamespace = new Map<string, Set<string>>();
  private readonly unread = new Set<string>();
  /** Those of `unread` that the present call of `take` may take. */
  private readonly turns = new FairQueue<string>();
  private taken = new Set<string>();
  /** Namespace → objects of the first call of `take` that it has not taken yet. `undefined` before. None is empty. */
  private first: Map<string, Set<string>> | undefined;

  get size(): number {
    return this.objects.size;
  }

  get pending(): number {
    return this.unread.size;
  }

  /** Records changes of objects. @returns the objects that are gone */
  observe(events: readonly ObjectEvent[]): readonly ObjectRef[] {
    return events.flatMap((event) => {
      const key = keyOf(event.ref);
      if (event.type === 'upsert' && !isDeleting(event.object)) {
        const { status: _status, ...rest } = event.object;
        this.objects.set(key, { ...event.ref, text: JSON.stringify(rest) });
        this.keysOf(event.ref.namespace).add(key);
        this.mark(key, event.ref.namespace);
        return [];
      }
      this.objects.delete(key);
      this.unread.delete(key);
      this.turns.remove(key, [event.ref.namespace]);
      this.forget(key, event.ref.namespace);
      const keys = this.keysOf(event.ref.namespace);
      keys.delete(key);
      if (keys.size === 0) this.byNamespace.delete(event.ref.namespace);
      return [event.ref];
    });
  }

  /** Marks an object, by `kind/namespace/name`, as changed by others. */
  reconsider(key: string): void {
    const object = this.objects.get(key);
    if (object !== undefined) this.mark(key, object.namespace);
  }

  reconsiderNamespace(namespace: string): void {
    for (const key of this.byNamespace.get(namespace) ?? []) this.mark(key, namespace);
  }

  reconsiderAll(): void {
    for (const [key, { namespace }] of this.objects) this.mark(key, namespace);
  }

  /** Takes the objects that have to be judged, one by one. Those that change after they were taken stay for the next call. */
  *take(): Generator<StoredObject> {
    this.first ??= new Map([...this.byNamespace].map(([namespace, keys]) => [namespace, new Set(keys)]));
    try {
      for (let key = this.turns.take(); key !== undefined; key = this.turns.take()) {
        this.unread.delete(key);
        this.taken.add(key);
        const object = this.objects.get(key);
        if (object === undefined) continue;
        this.forget(key, object.namespace);
        yield object;
      }
    } finally {
      const again = this.taken.intersection(this.unread);
      this.taken = new Set();
      for (const key of again) this.unread.delete(key);
      for (const key of again) this.reconsider(key);
    }
  }

  /** Whether each object of a namespace that was stored at the first call of `take` has been taken once. */
  isKnown(namespace: string): boolean {
    return this.first?.has(namespace) === false;
  }

  /** Whether that is so for all namespaces. */
  get areKnown(): boolean {
    return this.first?.size === 0;
  }

  /** Whether an object is stored, in any version. */
  has(object: StoredObject): boolean {
    return this.objects.has(keyOf(object));
  }

  private mark(key: string, namespace: string): void {
    if (this.unread.has(key)) return;
    this.unread.add(key);
    if (!this.taken.has(key)) this.turns.add(key, [namespace]);
  }

  private forget(key: string, namespace: string): void {
    const keys = this.first?.get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.first?.delete(namespace);
  }

  private keysOf(namespace: string): Set<string> {
    const keys = this.byNamespace.get(namespace) ?? new Set();
    this.byNamespace.set(namespace, keys);
    return keys;
  }
}

/** `kind/namespace/name` */
export function keyOf({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return keyOfRef({ kind, namespace, name });
}

/** Admission does not judge objects that are being deleted. */
function isDeleting({ metadata }: KubernetesObject): boolean {
  return isRecord(metadata) && typeof metadata['deletionTimestamp'] === 'string';
}
