import type { WireMetadata, WireObject } from './ports.ts';
import { keyOfRef } from '../core/resources/reference.ts';
import { isNewer } from '../core/text/resource-version.ts';

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
  return keyOfRef({ kind, namespace, name });
}

/** Tracks the objects that carry a status of ours: identity, version and status as last seen. */
export class LiveObjects {
  private readonly objects = new Map<string, LiveObject>();

  get(key: string): LiveObject | undefined {
    return this.objects.get(key);
  }

  keys(): Iterable<string> {
    return this.objects.keys();
  }

  /** Records an object from the response to a write, unless it was deleted, or the watch has already delivered a newer version. */
  update(kind: string, object: WireObject): void {
    const known = this.objects.get(liveKey(kind, object.metadata))?.object.metadata.resourceVersion;
    if (known !== undefined && !isNewer(known, object.metadata.resourceVersion ?? '')) this.set(kind, object);
  }

  /** Records an object from a watch. Returns its key. */
  set(kind: string, object: WireObject): string {
    const key = liveKey(kind, object.metadata);
    const { apiVersion, metadata, status } = object;
    this.objects.set(key, {
      kind,
      object: { ...(apiVersion !== undefined && { apiVersion }), metadata: identityOf(metadata), status },
    });
    return key;
  }

  delete(key: string): void {
    this.objects.delete(key);
  }
}

/**
 * The metadata that a status write needs. For the subresource, the API server keeps the rest of the stored metadata, and its managers.
 * Annotations and managedFields can be larger than everything else.
 */
function identityOf({ name, namespace, uid, resourceVersion, generation }: WireMetadata): WireMetadata {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
  };
}
