import type { ApiClient, ApiRequest } from './client.ts';
import { pathOf, type KubernetesObject, type ObjectName, type ResourceType } from './object.ts';
import { settle, type WriteOutcome } from './outcome.ts';

export type { WriteOutcome } from './outcome.ts';

/** A client and the type of the object to write. */
export interface Writer {
  readonly client: ApiClient;
  readonly type: ResourceType;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. Default: 30 seconds. */
  readonly timeout?: number;
  /** `All`: the server checks everything, webhooks included, and stores nothing. */
  readonly dryRun?: 'All';
  readonly fieldManager?: string;
}

/** Preconditions of a delete, and what happens to dependents. */
export interface DeleteOptions extends WriteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

/** One object by name, and its subresource if there is one. */
export interface PatchTarget extends ObjectName {
  readonly name: string;
  readonly subresource?: 'status';
}

/** Server-side apply requires a field manager. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
}

/** Reads the current object, with an outcome like those of writes. */
export function get(
  { client, type }: Writer,
  target: ObjectName & { readonly name: string },
  options: Pick<WriteOptions, 'signal' | 'timeout'> = {},
): Promise<WriteOutcome> {
  const { namespace, name } = target;
  return settle(
    client.request({ ...common(options), path: pathOf(type, { name, ...(namespace !== undefined && { namespace }) }) }),
  );
}

/** Creates an object. */
export function create(
  { client, type }: Writer,
  object: KubernetesObject,
  options: WriteOptions = {},
): Promise<WriteOutcome> {
  const path = pathOf(type, namespaceOf(object));
  return settle(client.request({ ...common(options), method: 'POST', path, body: complete(type, object) }));
}

/**
 * Replaces only the status of an object. `metadata.resourceVersion` names the version that the status was computed from: `conflict`
 * if the object has changed since, and nothing was written.
 */
export function updateStatus(
  { client, type }: Writer,
  object: KubernetesObject,
  options: WriteOptions = {},
): Promise<WriteOutcome> {
  const path = pathOf(type, nameOf(object), 'status');
  return settle(client.request({ ...common(options), method: 'PUT', path, body: complete(type, object) }));
}

/** Replaces an object except its status, under the same condition as `updateStatus`. */
export function update(
  { client, type }: Writer,
  object: KubernetesObject,
  options: WriteOptions = {},
): Promise<WriteOutcome> {
  return settle(
    client.request({
      ...common(options),
      method: 'PUT',
      path: pathOf(type, nameOf(object)),
      body: complete(type, object),
    }),
  );
}

/**
 * Server-side apply: sets the fields of `object`, creates it if it does not exist, and removes fields that this manager applied
 * before. With force: takes over fields from other managers.
 */
export function applyForced(
  { client, type }: Writer,
  object: KubernetesObject,
  options: ApplyOptions,
): Promise<WriteOutcome> {
  const request = common(options);
  return settle(
    client.request({
      ...request,
      query: { ...request.query, force: true },
      method: 'PATCH',
      path: pathOf(type, nameOf(object)),
      // JSON is YAML.
      contentType: 'application/apply-patch+yaml',
      body: complete(type, object),
    }),
  );
}

/** JSON merge patch (RFC 7396): given fields replace, `null` removes, lists are replaced as a whole. */
export function mergePatch(
  { client, type }: Writer,
  target: PatchTarget,
  patch: object,
  options: WriteOptions = {},
): Promise<WriteOutcome> {
  const path = pathOf(type, target, target.subresource);
  return settle(
    client.request({
      ...common(options),
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body: patch,
    }),
  );
}

/** Deletes an object. `conflict` if the preconditions do not hold. Finalizers may delay the deletion. */
export function remove(
  { client, type }: Writer,
  target: PatchTarget,
  options: DeleteOptions = {},
): Promise<WriteOutcome> {
  const { uid, resourceVersion, propagationPolicy, dryRun } = options;
  // If a delete has a body, the server ignores the query: a dry run that only the query requests would delete.
  const body = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    preconditions: { uid, resourceVersion },
    propagationPolicy,
    ...(dryRun === undefined ? {} : { dryRun: [dryRun] }),
  };
  return settle(client.request({ ...common(options), method: 'DELETE', path: pathOf(type, target), body }));
}

function common({
  signal,
  timeout,
  dryRun,
  fieldManager,
}: WriteOptions): Pick<ApiRequest, 'signal' | 'timeout' | 'query'> {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeout === undefined ? {} : { timeout }),
    query: { dryRun, fieldManager },
  };
}

function complete({ apiVersion, kind }: ResourceType, object: KubernetesObject): KubernetesObject {
  return { ...object, apiVersion, kind };
}

function namespaceOf({ metadata }: KubernetesObject): ObjectName {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}

function nameOf(object: KubernetesObject): ObjectName {
  return { ...namespaceOf(object), name: object.metadata.name };
}
