import type { BundleStore, StoredBundle } from '../../certificates/index.ts';
import { FollowedObject, type ClusterAccess } from '../../cluster/followed-object.ts';
import {
  applyTrusted,
  readWebhookConfiguration,
  trustedByAll,
  webhookConfigurations,
  type WebhookConfiguration,
} from './webhook-configuration.ts';

/** Stores the trusted authorities in a ValidatingWebhookConfiguration of the cluster. */
export class ClusterBundleStore implements BundleStore {
  private readonly access: ClusterAccess;
  private readonly name: string;
  private readonly followed: FollowedObject;
  /** The configuration that was read last. Writes need the names of its webhooks. */
  private last: WebhookConfiguration | undefined;

  constructor(access: ClusterAccess, name: string) {
    this.access = access;
    this.name = name;
    this.followed = new FollowedObject(access, { type: webhookConfigurations, name });
  }

  async read(): Promise<StoredBundle | undefined> {
    this.last = await readWebhookConfiguration(this.access.client, this.name);
    return this.last === undefined ? undefined : { certificates: trustedByAll(this.last), version: this.last.version };
  }

  async publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'> {
    if (this.last?.version !== version) return 'conflict';
    const outcome = await applyTrusted(this.access.client, this.last, certificates);
    return outcome === 'applied' ? 'published' : 'conflict';
  }

  onChange(listener: () => void): () => void {
    return this.followed.onChange(listener);
  }
}
