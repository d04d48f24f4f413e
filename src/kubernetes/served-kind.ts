import type { KindEntry } from '../core/schema/index.ts';
import { recordOf, recordsOf } from '../core/text/record.ts';
import type { ApiClient } from './client.ts';
import type { InstalledKind } from './custom-resource-definition.ts';
import { unlessNotFound } from './errors.ts';

/**
 * Reads from the discovery documents of the API server whether it serves a kind of Kubernetes itself, and in which versions.
 *
 * @returns a definition without a schema; `undefined` if no version of the group has the kind
 * @throws ApiError except for a status of 404, ConnectionError, ProtocolError, the reason of `signal` if that is aborted
 */
export async function readServedKind(
  client: ApiClient,
  { group, kind, plural }: KindEntry,
  signal?: AbortSignal,
): Promise<InstalledKind | undefined> {
  const read = (path: string) => readDocument(client, path, signal);
  const { versions } = await read(`/apis/${group}`);
  const names = recordsOf(versions).flatMap(({ version }) => (typeof version === 'string' ? [version] : []));
  const resources = await Promise.all(names.map((name) => read(`/apis/${group}/${name}`)));
  const served = names.filter((_, index) =>
    recordsOf(resources[index]?.['resources']).some(({ name }) => name === plural),
  );
  return served.length === 0 ? undefined : servedKind({ group, kind, plural }, served);
}

/** Returns the definition of a kind that is served in some versions, without a schema. */
export function servedKind(
  { group, kind, plural }: Pick<KindEntry, 'group' | 'kind' | 'plural'>,
  served: readonly string[],
): InstalledKind {
  return {
    name: `${plural}.${group}`,
    uid: '',
    group,
    kind,
    plural,
    annotations: {},
    versions: served.map((name) => ({ name, served: true, storage: false, schemaHash: '' })),
    storedVersions: [],
    established: true,
    deleting: false,
  };
}

/** A document that does not exist reads as an empty one. */
async function readDocument(
  client: ApiClient,
  path: string,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  return recordOf(await unlessNotFound(client.request({ path, ...(signal && { signal }) })));
}
