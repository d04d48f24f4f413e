import type { WireObject } from './ports.ts';

/** What the writing of a status needs of a live object; its spec is none of it. */
export interface LiveObject {
  readonly kind: string;
  readonly object: WireObject;
}

/** `kind/namespace/name`, the key of the emission of statuses. */
export function liveKey(kind: string, { namespace = '', name }: { readonly namespace?: string; readonly name: string }): string {
  return `${kind}/${namespace}/${name}`;
}

/** The objects that carry a status of ours, as last seen: identity, version and status. */
export class LiveObjects {
  readonly #objects = new Map<string, LiveObject>();

  get(key: string): LiveObject | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  /** Notes an object as seen in a watch or in the answer to a write. Returns its key. */
  set(kind: string, object: WireObject): string {
    const key = liveKey(kind, object.metadata);
    const { metadata, status } = object;
    this.#objects.set(key, { kind, object: { ...(object.apiVersion !== undefined && { apiVersion: object.apiVersion }), metadata, status } });
    return key;
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }
}
