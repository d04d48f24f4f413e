import { type ObjectRef, qualifiedName } from '../core/resources/reference.ts';
import { isNewer } from '../core/text/resource-version.ts';
import type { KubernetesObject, ResourceType } from './object.ts';

/**
 * A change of an object. A recreated object of the same name gives a delete and an upsert, and so does one of an earlier version: the API
 * server was restored from a backup, and nothing that is known about the later version holds.
 */
export type ObjectEvent =
  | { readonly type: 'upsert'; readonly ref: ObjectRef; readonly object: KubernetesObject }
  | { readonly type: 'delete'; readonly ref: ObjectRef };

interface Known {
  readonly ref: ObjectRef;
  readonly uid: string;
  /** `''` if the reader may not have received this object. */
  readonly resourceVersion: string;
  /** Whether the object may have other contents at the same version. */
  readonly isDoubted?: boolean;
}

/**
 * Tracks the objects of one kind that the reader has received, by identity and version only. Reduces the results of lists and
 * watches to changes.
 */
export class Inventory {
  private readonly type: ResourceType;
  private readonly group: string;
  private readonly known = new Map<string, Known>();

  constructor(type: ResourceType) {
    this.type = type;
    this.group = type.apiVersion.includes('/') ? type.apiVersion.slice(0, type.apiVersion.indexOf('/')) : '';
  }

  get size(): number {
    return this.known.size;
  }

  /** Takes over the objects of an inventory for another version of the kind. All of them will be reported once more. */
  adopt(former: Inventory): void {
    for (const [key, { ref, uid }] of former.known) this.known.set(key, { ref, uid, resourceVersion: '' });
  }

  /** Records an object that was listed, added or modified. */
  upsert(object: KubernetesObject): readonly ObjectEvent[] {
    const { namespace = '', name, uid = '', resourceVersion = '' } = object.metadata;
    const ref = { group: this.group, kind: this.type.kind, namespace, name };
    const key = keyOf(ref);
    const before = this.known.get(key);
    const isSame = before?.uid === uid && before.resourceVersion === resourceVersion && resourceVersion !== '';
    if (isSame && before.isDoubted !== true) return [];
    this.known.set(key, { ref, uid, resourceVersion });
    const event = { type: 'upsert', ref, object: this.complete(object) } as const;
    const isAnother = before !== undefined && (before.uid !== uid || isNewer(before.resourceVersion, resourceVersion));
    return isAnother ? [{ type: 'delete', ref }, event] : [event];
  }

  /** Records the deletion of an object. No event if the known object of this name has another uid. */
  remove(object: KubernetesObject): readonly ObjectEvent[] {
    const { namespace = '', name, uid = '' } = object.metadata;
    const key = keyOf({ namespace, name });
    const before = this.known.get(key);
    if (before === undefined || before.uid !== uid) return [];
    this.known.delete(key);
    return [{ type: 'delete', ref: before.ref }];
  }

  /** Removes all objects that are not in a complete list. `listed` holds keys of `keyOf`. */
  retain(listed: ReadonlySet<string>): readonly ObjectEvent[] {
    const gone = [...this.known].filter(([key]) => !listed.has(key));
    for (const [key] of gone) this.known.delete(key);
    return gone.map(([, { ref }]) => ({ type: 'delete', ref }));
  }

  /** Reports all objects once more, also at the same version: after a restore, versions come again with other contents. */
  doubtAll(): void {
    for (const [key, known] of this.known) this.known.set(key, { ...known, isDoubted: true });
  }

  /** Marks events as not received, so that the next list reports them again. */
  distrust(events: readonly ObjectEvent[]): void {
    for (const { ref } of events) {
      const key = keyOf(ref);
      this.known.set(key, { ref, uid: this.known.get(key)?.uid ?? '', resourceVersion: '' });
    }
  }

  /** Adds apiVersion and kind, which list items lack, and removes managedFields, which are unused and often half of the object. */
  private complete(object: KubernetesObject): KubernetesObject {
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    return { ...object, apiVersion: this.type.apiVersion, kind: this.type.kind, metadata };
  }
}

export function keyOf({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): string {
  return qualifiedName({ namespace, name });
}
