import { applyFields, claimChanged } from './fields.ts';
import { isJson, record, Refusal, textOf, type Json, type StoredObject } from './object.ts';
import { jsonPatch, mergePatch } from './patch.ts';
import { defined, definitionsKey, establishedStatus } from './resources.ts';
import { resourceKey, type Resource, type Store } from './store.ts';

export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export interface Write {
  readonly contentType: string;
  readonly body: unknown;
  readonly query: URLSearchParams;
}

const nameForm = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

function managerOf({ query }: Write): string {
  return query.get('fieldManager') ?? 'sallyport';
}

function isDry({ query }: Write): boolean {
  return query.get('dryRun') === 'All';
}

export function find(store: Store, { resource, namespace, name }: Target): StoredObject {
  const found = store.get(resourceKey(resource), namespace, name);
  if (found === undefined) throw new Refusal(404, 'NotFound', `${resourceKey(resource)} "${name}" not found`);
  return found;
}

export function post(store: Store, target: Target, write: Write): Json {
  const { resource, namespace } = target;
  const body = record(write.body);
  const metadata = { ...record(body['metadata']), ...(resource.namespaced ? { namespace } : {}) };
  const { status, ...rest } = body;
  return insert(store, target, write, {
    ...rest,
    ...(resource.hasStatus || status === undefined ? {} : { status }),
    metadata,
  });
}

function insert(store: Store, { resource, namespace }: Target, write: Write, object: Json): Json {
  const name = textOf(record(object['metadata'])['name']);
  if (!nameForm.test(name)) {
    const causes = [{ reason: 'FieldValueInvalid', message: `Invalid value: "${name}"`, field: 'metadata.name' }];
    throw new Refusal(422, 'Invalid', `${resource.kind} "${name}" is invalid: metadata.name: Invalid value`, {
      causes,
    });
  }
  if (resource.namespaced && store.get('namespaces.', '', namespace) === undefined)
    throw new Refusal(404, 'NotFound', `namespaces "${namespace}" not found`);
  const key = resourceKey(resource);
  if (isDry(write)) {
    if (store.get(key, namespace, name) !== undefined)
      throw new Refusal(409, 'AlreadyExists', `${key} "${name}" already exists`);
    return object;
  }
  const inserted = store.insert(resource, object, managerOf(write));
  return key === definitionsKey
    ? store.replace(key, inserted, { ...inserted, status: establishedStatus(inserted) })
    : inserted;
}

export function put(store: Store, target: Target, write: Write): Json {
  const before = find(store, target);
  const body = record(write.body);
  if (record(body['metadata'])['resourceVersion'] === undefined && target.resource.group !== '') {
    throw new Refusal(422, 'Invalid', 'metadata.resourceVersion: Invalid value: 0x0: must be specified for an update');
  }
  return change(store, target, write, before);
}

export function patch(store: Store, target: Target, write: Write): { code: number; body: Json } {
  const before = store.get(resourceKey(target.resource), target.namespace, target.name);
  if (write.contentType.startsWith('application/apply-patch')) return applyPatch(store, target, write, before);
  const live = find(store, target);
  const patched = write.contentType.startsWith('application/json-patch')
    ? jsonPatch(live, write.body)
    : record(mergePatch(live, write.body));
  return { code: 200, body: change(store, target, { ...write, body: patched }, live) };
}

function applyPatch(
  store: Store,
  target: Target,
  write: Write,
  before: StoredObject | undefined,
): { code: number; body: Json } {
  const { resource, namespace, name } = target;
  const manager = managerOf(write);
  const force = write.query.get('force') === 'true';
  const owners = isDry(write)
    ? structuredClone(store.ownersOf(resourceKey(resource), { namespace, name }))
    : store.ownersOf(resourceKey(resource), { namespace, name });
  const empty = { metadata: { name, ...(resource.namespaced ? { namespace } : {}) } };
  const applied = record(write.body);
  const { uid } = record(applied['metadata']);
  if (uid !== undefined && before === undefined) throw new Refusal(409, 'Conflict', 'uid mismatch');
  if (uid !== undefined && uid !== before?.metadata.uid)
    throw new Refusal(422, 'Invalid', 'metadata.uid: Invalid value: field is immutable');
  const object = applyFields(
    before ?? { ...empty, apiVersion: applied['apiVersion'], kind: applied['kind'] },
    applied,
    owners,
    { manager, force },
  );
  if (before === undefined) return { code: 201, body: insert(store, target, write, object) };
  const after = withGeneration(before, {
    ...before,
    ...object,
    metadata: { ...before.metadata, ...record(object['metadata']) },
  });
  return { code: 200, body: isDry(write) ? after : store.replace(resourceKey(resource), before, after) };
}

/** A new form of an object, of which only the part counts that the path allows. */
function change(store: Store, { resource, subresource }: Target, write: Write, before: StoredObject): Json {
  const body = record(write.body);
  const metadata = record(body['metadata']);
  const version = metadata['resourceVersion'];
  if (version !== undefined && version !== before.metadata.resourceVersion) {
    throw new Refusal(
      409,
      'Conflict',
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  const { labels, annotations, finalizers } = metadata;
  const kept = { ...before.metadata, labels, annotations, finalizers };
  const after =
    subresource === 'status'
      ? { ...before, status: body['status'] }
      : { ...body, ...(resource.hasStatus ? { status: before['status'] } : {}), metadata: kept };
  const next = withGeneration(before, JSON.parse(JSON.stringify(after)) as StoredObject);
  if (isDry(write)) return next;
  const key = resourceKey(resource);
  claimChanged(before, next, store.ownersOf(key, before.metadata), managerOf(write));
  const written = store.replace(key, before, next);
  const isGone = written.metadata['deletionTimestamp'] !== undefined && !hasFinalizers(written);
  if (isGone) store.delete(key, written);
  return written;
}

function withGeneration(before: StoredObject, after: StoredObject): StoredObject {
  const isSame = JSON.stringify(before['spec']) === JSON.stringify(after['spec']);
  return isSame
    ? after
    : { ...after, metadata: { ...after.metadata, generation: Number(before.metadata['generation'] ?? 0) + 1 } };
}

/** Objects of a kind go with its definition. */
export function remove(store: Store, target: Target, write: Write): { code: number; body: Json; gone?: string } {
  const before = find(store, target);
  const { uid, resourceVersion } = record(record(write.body)['preconditions']);
  const mismatch =
    (uid !== undefined && uid !== before.metadata.uid) ||
    (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion);
  if (mismatch) throw new Refusal(409, 'Conflict', 'Precondition failed');
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  // As the real one: options in the body hide those in the query.
  const dryRun = record(write.body)['dryRun'];
  if (write.body === undefined ? isDry(write) : Array.isArray(dryRun) && dryRun.includes('All'))
    return { code: 200, body: success };
  const key = resourceKey(target.resource);
  if (hasFinalizers(before)) {
    return {
      code: 200,
      body: store.replace(key, before, {
        ...before,
        metadata: { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      }),
    };
  }
  if (key !== definitionsKey) {
    store.delete(key, before);
    return { code: 200, body: success };
  }
  const gone = resourceKey(defined(before));
  for (const object of store.list(gone)) store.delete(gone, object);
  store.delete(key, before);
  return { code: 200, body: success, gone };
}

function hasFinalizers({ metadata: { finalizers } }: StoredObject): boolean {
  return Array.isArray(finalizers) && finalizers.length > 0 && !isJson(finalizers);
}
