import type { ApiClient, ApiRequest } from './client.ts';
import { pathOf, type KubernetesObject, type ObjectName, type ResourceType } from './object.ts';
import { settle, type WriteOutcome } from './outcome.ts';

export type { WriteOutcome } from './outcome.ts';

/** A client and the type of what is written. */
export interface Writer {
  readonly client: ApiClient;
  readonly type: ResourceType;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; 30 seconds unless given. */
  readonly timeout?: number;
  /** `All`: everything is checked, webhooks included, and nothing stored. */
  readonly dryRun?: 'All';
  readonly fieldManager?: string;
}

/** What must still hold for a delete to happen; and what becomes of what the object owns. */
export interface DeleteOptions extends WriteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

/** One object by name, and a part of it where that has a path of its own. */
export interface PatchTarget extends ObjectName {
  readonly name: string;
  readonly subresource?: 'status';
}

/** Server-side apply always says on whose behalf. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
}

/** The object as it is now, as an outcome like those of writes. */
export function get({ client, type }: Writer, target: ObjectName & { readonly name: string }, options: Pick<WriteOptions, 'signal' | 'timeout'> = {}): Promise<WriteOutcome> {
  const { namespace, name } = target;
  return settle(client.request({ ...common(options), path: pathOf(type, { name, ...(namespace !== undefined && { namespace }) }) }));
}

/** Stores a new object. */
export function create({ client, type }: Writer, object: KubernetesObject, options: WriteOptions = {}): Promise<WriteOutcome> {
  const path = pathOf(type, namespaceOf(object));
  return settle(client.request({ ...common(options), method: 'POST', path, body: complete(type, object) }));
}

/**
 * Replaces an object's status, and nothing else. `metadata.resourceVersion` says which object the status was made
 * for: `conflict` where it has changed since, and nothing was written.
 */
export function updateStatus({ client, type }: Writer, object: KubernetesObject, options: WriteOptions = {}): Promise<WriteOutcome> {
  const path = pathOf(type, nameOf(object), 'status');
  return settle(client.request({ ...common(options), method: 'PUT', path, body: complete(type, object) }));
}

/** Replaces an object but its status; under the same condition as `updateStatus`. */
export function update({ client, type }: Writer, object: KubernetesObject, options: WriteOptions = {}): Promise<WriteOutcome> {
  return settle(client.request({ ...common(options), method: 'PUT', path: pathOf(type, nameOf(object)), body: complete(type, object) }));
}

/**
 * Server-side apply: sets the fields of `object`, creates it if it does not exist, and removes fields that this manager
 * applied before. It takes fields over from other managers.
 */
export function applyForced({ client, type }: Writer, object: KubernetesObject, options: ApplyOptions): Promise<WriteOutcome> {
  const request = common(options);
  return settle(client.request({
    ...request,
    query: { ...request.query, force: true },
    method: 'PATCH',
    path: pathOf(type, nameOf(object)),
    // JSON is YAML.
    contentType: 'application/apply-patch+yaml',
    body: complete(type, object),
  }));
}

/** JSON merge patch (RFC 7396): given fields replace, `null` removes, lists are replaced whole. */
export function mergePatch({ client, type }: Writer, target: PatchTarget, patch: object, options: WriteOptions = {}): Promise<WriteOutcome> {
  const path = pathOf(type, target, target.subresource);
  return settle(client.request({ ...common(options), method: 'PATCH', path, contentType: 'application/merge-patch+json', body: patch }));
}

/** Deletes an object; `conflict` where it is not the one that the options describe. Finalizers may keep it a while. */
export function remove({ client, type }: Writer, target: PatchTarget, options: DeleteOptions = {}): Promise<WriteOutcome> {
  const { uid, resourceVersion, propagationPolicy, dryRun } = options;
  // Where a delete has a body, the server does not look at the query: a dry run in the query alone would delete.
  const body = {
    kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion }, propagationPolicy,
    ...(dryRun === undefined ? {} : { dryRun: [dryRun] }),
  };
  return settle(client.request({ ...common(options), method: 'DELETE', path: pathOf(type, target), body }));
}

function common({ signal, timeout, dryRun, fieldManager }: WriteOptions): Pick<ApiRequest, 'signal' | 'timeout' | 'query'> {
  return { ...(signal === undefined ? {} : { signal }), ...(timeout === undefined ? {} : { timeout }), query: { dryRun, fieldManager } };
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
