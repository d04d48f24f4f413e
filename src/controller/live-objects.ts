import type { WireMetadata, WireObject } from './ports.ts';

/** The parts of a live object that a status write needs. The spec is not among them. */
export interface LiveObject {
  readonly kind: string;
  readonly object: WireObject;
}

/** `kind/namespace/name`, the key of the emission of statuses. */
export function liveKey(
  kind: string,
  { namespace = '', name }: { readonly namespace?: string; readonly name: string },
): string {
  return `${kind}/${namespace}/${name}`;
}

/** Tracks the objects that carry a status of ours: identity, version and status as last seen. */
export class LiveObjects {
  readonly #objects = new Map<string, LiveObject>();

  get(key: string): LiveObject | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  /** Records an object from a watch or from the response to a write. Returns its key. */
  set(kind: string, object: WireObject): string {
    const key = liveKey(kind, object.metadata);
    const { apiVersion, metadata, status } = object;
    this.#objects.set(key, {
      kind,
      object: { ...(apiVersion !== undefined && { apiVersion }), metadata: writtenMetadata(metadata), status },
    });
    return key;
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }
}

/**
 * The metadata that a status write sends. Without labels, annotations, finalizers or ownerReferences in the update, the API server would
 * keep their values, but take them from their owners: server-side apply could no longer remove them. managedFields may be omitted.
 */
function writtenMetadata({ managedFields: _managedFields, ...metadata }: WireMetadata): WireMetadata {
  return metadata;
}
