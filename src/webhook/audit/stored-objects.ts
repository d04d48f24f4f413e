import { gatewayGroups, knownKinds, tables, type KindEntry } from '../../core/schema/index.ts';
import { keyOfRef, type ObjectRef } from '../../core/resources/reference.ts';
import { isRecord } from '../../core/text/record.ts';
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

/** The stored objects of the audited kinds, and those that have to be judged. */
export class StoredObjects {
  private readonly objects = new Map<string, StoredObject>();
  private readonly byNamespace = new Map<string, Set<string>>();
  private readonly unread = new Set<string>();

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
        this.unread.add(key);
        return [];
      }
      this.objects.delete(key);
      this.unread.delete(key);
      const keys = this.keysOf(event.ref.namespace);
      keys.delete(key);
      if (keys.size === 0) this.byNamespace.delete(event.ref.namespace);
      return [event.ref];
    });
  }

  /** Marks an object, by `kind/namespace/name`, as changed by others. */
  reconsider(key: string): void {
    if (this.objects.has(key)) this.unread.add(key);
  }

  reconsiderNamespace(namespace: string): void {
    for (const key of this.byNamespace.get(namespace) ?? []) this.unread.add(key);
  }

  reconsiderAll(): void {
    for (const key of this.objects.keys()) this.unread.add(key);
  }

  /**
   * Takes the objects that have to be judged now, one by one. Objects that change in the meantime stay for the next call: constant
   * changes would keep the caller for ever.
   */
  *take(): Generator<StoredObject> {
    const keys = [...this.unread];
    for (const key of keys) {
      this.unread.delete(key);
      const object = this.objects.get(key);
      if (object !== undefined) yield object;
    }
  }

  /** Whether an object is stored, in any version. */
  has(object: StoredObject): boolean {
    return this.objects.has(keyOf(object));
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
