import type { SecretStore, SecretText, StoredSecret } from '../certificates/index.ts';
import {
  create,
  doneOrConflict,
  pathOf,
  unlessNotFound,
  update,
  type ApiClient,
  type KubernetesObject,
  type ResourceType,
} from '../kubernetes/index.ts';
import { FollowedObject, type ClusterAccess } from './followed-object.ts';

const secrets: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Reads the current Secret. `undefined` if it does not exist.
 *
 * @throws ApiError, ConnectionError if it cannot be read
 */
export async function readSecret(client: ApiClient, where: SecretName): Promise<StoredSecret | undefined> {
  const found = await unlessNotFound(client.request({ path: pathOf(secrets, where) }));
  return found === undefined ? undefined : parseSecret(found);
}

/** One Secret of the cluster as a `SecretStore`. */
export class ClusterSecretStore implements SecretStore {
  private readonly access: ClusterAccess;
  private readonly where: SecretName;
  private readonly followed: FollowedObject;

  constructor(access: ClusterAccess, where: SecretName) {
    this.access = access;
    this.where = where;
    this.followed = new FollowedObject(access, { type: secrets, ...where });
  }

  read(): Promise<StoredSecret | undefined> {
    return readSecret(this.access.client, this.where);
  }

  async create(data: SecretText): Promise<'created' | 'conflict'> {
    const outcome = await create(this.writer, this.object(data));
    return outcome.type === 'exists' ? 'conflict' : doneOrConflict(outcome, 'created');
  }

  async replace(data: SecretText, version: string): Promise<'replaced' | 'conflict'> {
    const outcome = await update(this.writer, this.object(data, version));
    return outcome.type === 'notFound' ? 'conflict' : doneOrConflict(outcome, 'replaced');
  }

  onChange(listener: () => void): () => void {
    return this.followed.onChange(listener);
  }

  private get writer() {
    return { client: this.access.client, type: secrets };
  }

  private object(data: SecretText, resourceVersion?: string): KubernetesObject {
    const labels = { 'app.kubernetes.io/name': 'sallyport', 'app.kubernetes.io/managed-by': 'sallyport' };
    const encoded = Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    );
    return {
      metadata: { ...this.where, labels, ...(resourceVersion !== undefined && { resourceVersion }) },
      type: 'Opaque',
      data: encoded,
    };
  }
}

function parseSecret(json: unknown): StoredSecret {
  const { metadata, data } = json as {
    readonly metadata: { readonly resourceVersion: string };
    readonly data?: Readonly<Record<string, string>>;
  };
  const texts = Object.entries(data ?? {}).map(([name, encoded]) => [name, Buffer.from(encoded, 'base64').toString()]);
  return { data: Object.fromEntries(texts), version: metadata.resourceVersion };
}
