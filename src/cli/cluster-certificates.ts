import type { BundleStore, SecretStore, SecretText, StoredBundle, StoredSecret } from '../certificates/index.ts';
import {
  ApiError, create, pathOf, Reflector, systemClock, update,
  type ApiClient, type KubernetesObject, type ResourceType, type WriteOutcome,
} from '../kubernetes/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { applyTrusted, readWebhookConfiguration, trustedByAll, webhookConfigurations, type WebhookConfiguration } from './webhook-configuration.ts';

export const secrets: ResourceType = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

/** A client, and who reports what goes wrong while following. */
export interface ClusterAccess {
  readonly client: ApiClient;
  readonly log: Logger;
}

export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** One object, followed for its changes only. Stops with the last listener. */
class Notifier {
  readonly #listeners = new Set<() => void>();
  readonly #follow: (onEvents: () => void) => Reflector;
  #reflector: Reflector | undefined;

  constructor({ client, log }: ClusterAccess, selection: { readonly type: ResourceType; readonly namespace?: string; readonly name: string }) {
    const { name, ...where } = selection;
    const named = { ...where, fieldSelector: `metadata.name=${name}`, part: 'metadata' as const };
    this.#follow = (onEvents) => new Reflector({ client, clock: systemClock, log, selection: named, onEvents });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#reflector ??= this.#follow(() => {
      for (const each of this.#listeners) each();
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      void this.#reflector?.stop();
      this.#reflector = undefined;
    };
  }
}

/**
 * Reads a Secret as it is now; `undefined` where there is none.
 *
 * @throws ApiError, ConnectionError where it cannot be read
 */
export async function readSecret(client: ApiClient, where: SecretName): Promise<StoredSecret | undefined> {
  try {
    return parseSecret(await client.request({ path: pathOf(secrets, where) }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** One Secret of the cluster as a `SecretStore`. */
export class ClusterSecretStore implements SecretStore {
  readonly #access: ClusterAccess;
  readonly #where: SecretName;
  readonly #notifier: Notifier;

  constructor(access: ClusterAccess, where: SecretName) {
    this.#access = access;
    this.#where = where;
    this.#notifier = new Notifier(access, { type: secrets, ...where });
  }

  read(): Promise<StoredSecret | undefined> {
    return readSecret(this.#access.client, this.#where);
  }

  async create(data: SecretText): Promise<'created' | 'conflict'> {
    const outcome = await create(this.#writer, this.#object(data));
    return outcome.type === 'exists' ? 'conflict' : done(outcome, 'created');
  }

  async replace(data: SecretText, version: string): Promise<'replaced' | 'conflict'> {
    const outcome = await update(this.#writer, this.#object(data, version));
    return outcome.type === 'notFound' ? 'conflict' : done(outcome, 'replaced');
  }

  onChange(listener: () => void): () => void {
    return this.#notifier.onChange(listener);
  }

  get #writer() {
    return { client: this.#access.client, type: secrets };
  }

  #object(data: SecretText, resourceVersion?: string): KubernetesObject {
    const labels = { 'app.kubernetes.io/name': 'sallyport', 'app.kubernetes.io/managed-by': 'sallyport' };
    const encoded = Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
    return { metadata: { ...this.#where, labels, ...(resourceVersion !== undefined && { resourceVersion }) }, type: 'Opaque', data: encoded };
  }
}

/** What a ValidatingWebhookConfiguration of the cluster trusts, as a `BundleStore`. */
export class ClusterBundleStore implements BundleStore {
  readonly #access: ClusterAccess;
  readonly #name: string;
  readonly #notifier: Notifier;
  /** Writing needs the webhooks' names: those of the configuration that was read last. */
  #last: WebhookConfiguration | undefined;

  constructor(access: ClusterAccess, name: string) {
    this.#access = access;
    this.#name = name;
    this.#notifier = new Notifier(access, { type: webhookConfigurations, name });
  }

  async read(): Promise<StoredBundle | undefined> {
    this.#last = await readWebhookConfiguration(this.#access.client, this.#name);
    return this.#last === undefined ? undefined : { certificates: trustedByAll(this.#last), version: this.#last.version };
  }

  async publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'> {
    if (this.#last?.version !== version) return 'conflict';
    const outcome = await applyTrusted(this.#access.client, this.#last, certificates);
    return outcome.type === 'notFound' ? 'conflict' : done(outcome, 'published');
  }

  onChange(listener: () => void): () => void {
    return this.#notifier.onChange(listener);
  }
}

/** @throws for an outcome that is neither success nor conflict, with the API server's words */
function done<Success extends string>(outcome: WriteOutcome, success: Success): Success | 'conflict' {
  if (outcome.type === 'ok') return success;
  if (outcome.type === 'conflict') return 'conflict';
  throw new Error(outcome.message);
}

function parseSecret(json: unknown): StoredSecret {
  const { metadata, data } = json as { readonly metadata: { readonly resourceVersion: string }; readonly data?: Readonly<Record<string, string>> };
  const texts = Object.entries(data ?? {}).map(([name, encoded]) => [name, Buffer.from(encoded, 'base64').toString()]);
  return { data: Object.fromEntries(texts), version: metadata.resourceVersion };
}
