import type { ObjectRef } from '../core/resources/reference.ts';
import type { KubernetesObject, ResourceType } from './object.ts';

/** What became of an object. A deleted and newly made object of the same name is a delete and an upsert. */
export type ObjectEvent =
  | { readonly type: 'upsert'; readonly ref: ObjectRef; readonly object: KubernetesObject }
  | { readonly type: 'delete'; readonly ref: ObjectRef };

interface Known {
  readonly ref: ObjectRef;
  readonly uid: string;
  /** `''` where it is not sure that the reader has this object. */
  readonly resourceVersion: string;
}

/**
 * Which objects of one kind the reader was told of: identity and version only. Turns what lists and watches say
 * into what is news.
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

  /** Takes over what another inventory holds, of another version of the kind: everything counts as news once more. */
  adopt(former: Inventory): void {
    for (const [key, { ref, uid }] of former.known) this.known.set(key, { ref, uid, resourceVersion: '' });
  }

  /** An object as listed, added or modified. */
  upsert(object: KubernetesObject): readonly ObjectEvent[] {
    const { namespace = '', name, uid = '', resourceVersion = '' } = object.metadata;
    const ref = { group: this.group, kind: this.type.kind, namespace, name };
    const key = keyOf(ref);
    const before = this.known.get(key);
    if (before?.uid === uid && before.resourceVersion === resourceVersion && resourceVersion !== '') return [];
    this.known.set(key, { ref, uid, resourceVersion });
    const event = { type: 'upsert', ref, object: this.complete(object) } as const;
    return before === undefined || before.uid === uid ? [event] : [{ type: 'delete', ref }, event];
  }

  /** An object as it was when it was deleted; nothing where that object is not the one we know by this name. */
  remove(object: KubernetesObject): readonly ObjectEvent[] {
    const { namespace = '', name, uid = '' } = object.metadata;
    const key = keyOf({ namespace, name });
    const before = this.known.get(key);
    if (before === undefined || before.uid !== uid) return [];
    this.known.delete(key);
    return [{ type: 'delete', ref: before.ref }];
  }

  /** Everything that a complete list did not have. `listed` holds keys of `keyOf`. */
  retain(listed: ReadonlySet<string>): readonly ObjectEvent[] {
    const gone = [...this.known].filter(([key]) => !listed.has(key));
    for (const [key] of gone) this.known.delete(key);
    return gone.map(([, { ref }]) => ({ type: 'delete', ref }));
  }

  /** These events did not arrive: the next list brings them again. */
  distrust(events: readonly ObjectEvent[]): void {
    for (const { ref } of events) {
      const key = keyOf(ref);
      this.known.set(key, { ref, uid: this.known.get(key)?.uid ?? '', resourceVersion: '' });
    }
  }

  /** Items of lists do not say what they are; and nobody wants the bookkeeping of field managers, half of many objects. */
  private complete(object: KubernetesObject): KubernetesObject {
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    return { ...object, apiVersion: this.type.apiVersion, kind: this.type.kind, metadata };
  }
}

export function keyOf({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
