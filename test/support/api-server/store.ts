import { randomUUID } from 'node:crypto';
import { claimChanged, type Owners } from './fields.ts';
import { record, Refusal, textOf, type Json, type StoredMetadata, type StoredObject } from './object.ts';

/** A resource in all of its versions. */
export interface Resource {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly versions: readonly string[];
  readonly hasStatus: boolean;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly version: number;
  readonly object: StoredObject;
  readonly before?: StoredObject;
}

/** The contents of a store at a version. */
export interface Backup {
  readonly version: number;
  readonly objects: readonly (readonly [resource: string, objects: readonly StoredObject[]])[];
}

function pathIn({ metadata: { namespace = '', name } }: StoredObject): string {
  return `${namespace}/${name}`;
}

export function resourceKey({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return `${plural}.${group}`;
}

/** Objects, versions and history, as etcd and the API server's cache have them. */
export class Store {
  /** Changes after this version are known. */
  oldest = 0;
  version = 100;
  /** Resources that only some API servers serve. May be changed at any time. */
  optional: readonly Resource[] = [];
  private history: Change[] = [];
  private readonly objects = new Map<string, Map<string, StoredObject>>();
  private readonly owners = new Map<string, Owners>();
  private readonly listeners = new Set<(change: Change) => void>();

  onChange(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Changes after `version`. */
  since(version: number): readonly Change[] {
    return this.history.filter((change) => change.version > version);
  }

  /** Forgets history, as etcd does every few minutes. */
  compact(): void {
    this.version += 1;
    this.oldest = this.version;
    this.history = [];
  }

  /** What a backup has: all objects, and the version. */
  backUp(): Backup {
    return {
      version: this.version,
      objects: [...this.objects].map(([resource, objects]) => [resource, [...objects.values()]]),
    };
  }

  /** Begins anew from a backup, as a restored etcd: nobody is told, and the same versions come again with other contents. */
  restore({ version, objects }: Backup): void {
    this.version = version;
    this.oldest = version;
    this.history = [];
    this.objects.clear();
    for (const [resource, stored] of objects)
      this.objects.set(resource, new Map(stored.map((object) => [pathIn(object), object])));
  }

  list(resource: string): readonly StoredObject[] {
    return [...(this.objects.get(resource)?.entries() ?? [])]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([, object]) => object);
  }

  get(resource: string, namespace: string, name: string): StoredObject | undefined {
    return this.objects.get(resource)?.get(`${namespace}/${name}`);
  }

  /** Who owns which fields of an object. */
  ownersOf(resource: string, { namespace = '', name }: Pick<StoredMetadata, 'namespace' | 'name'>): Owners {
    const key = `${resource} ${namespace}/${name}`;
    const owners = this.owners.get(key) ?? new Map<string, Set<string>>();
    this.owners.set(key, owners);
    return owners;
  }

  /** Stores a new object; metadata that the server gives is given. */
  insert(resource: Resource, object: Json, manager = 'unknown'): StoredObject {
    const key = resourceKey(resource);
    const metadata = record(object['metadata']);
    const name = textOf(metadata['name']);
    const namespace = resource.namespaced ? textOf(metadata['namespace']) || 'default' : '';
    if (this.get(key, namespace, name) !== undefined)
      throw new Refusal(409, 'AlreadyExists', `${key} "${name}" already exists`);
    const stored: StoredObject = {
      ...object,
      metadata: {
        ...metadata,
        name,
        ...(namespace === '' ? {} : { namespace }),
        uid: randomUUID(),
        resourceVersion: '',
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
    };
    const owners = this.ownersOf(key, stored.metadata);
    if (owners.size === 0) claimChanged({}, stored, owners, manager);
    return this.write(key, 'ADDED', stored);
  }

  /** Replaces an object by a form of it that differs; what does not differ is not stored. */
  replace(resource: string, before: StoredObject, after: StoredObject): StoredObject {
    const isEqual =
      JSON.stringify({ ...after, metadata: { ...after.metadata, resourceVersion: '' } }) ===
      JSON.stringify({ ...before, metadata: { ...before.metadata, resourceVersion: '' } });
    return isEqual ? before : this.write(resource, 'MODIFIED', after, before);
  }

  delete(resource: string, object: StoredObject): StoredObject {
    const { namespace = '', name } = object.metadata;
    this.objects.get(resource)?.delete(`${namespace}/${name}`);
    this.owners.delete(`${resource} ${namespace}/${name}`);
    return this.note(resource, 'DELETED', object, object);
  }

  private write(resource: string, type: Change['type'], object: StoredObject, before?: StoredObject): StoredObject {
    const written = this.note(resource, type, object, before);
    const { namespace = '', name } = written.metadata;
    const all = this.objects.get(resource) ?? new Map<string, StoredObject>();
    this.objects.set(resource, all.set(`${namespace}/${name}`, written));
    return written;
  }

  private note(resource: string, type: Change['type'], object: StoredObject, before?: StoredObject): StoredObject {
    this.version += 1;
    const managedFields = [...this.ownersOf(resource, object.metadata)].map(([manager, fields]) => ({
      manager,
      fields: [...fields],
    }));
    const noted = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version), managedFields } };
    const change = {
      type,
      resource,
      version: this.version,
      object: noted,
      ...(before === undefined ? {} : { before }),
    };
    this.history.push(change);
    for (const listener of this.listeners) listener(change);
    return noted;
  }
}
