/**
 * The ports of certificate management to a cluster. Implementations must pass the contract suite
 * (`test/contract/certificate-stores.ts`). All of them reject if the store is unreachable.
 */

/** One Secret. Values are text, not base64. */
export interface SecretStore {
  read(): Promise<StoredSecret | undefined>;
  /** `conflict`: the Secret exists already. */
  create(data: SecretText): Promise<'created' | 'conflict'>;
  /** `conflict`: the Secret changed since `version` was read, or was deleted. */
  replace(data: SecretText, version: string): Promise<'replaced' | 'conflict'>;
  /** Calls `listener` after each change, including our own. Changes may be missed. Returns how to unsubscribe. */
  onChange(listener: () => void): () => void;
}

export type SecretText = Readonly<Record<string, string>>;

export interface StoredSecret {
  readonly data: SecretText;
  readonly version: string;
}

/** The authorities that the API server trusts when it calls the webhook. */
export interface BundleStore {
  /** `undefined` if the configuration does not exist. Never cached. */
  read(): Promise<StoredBundle | undefined>;
  /** `conflict`: the configuration changed since `version` was read, or was deleted. */
  publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'>;
  /** Calls `listener` after each change, including our own. Changes may be missed. Returns how to unsubscribe. */
  onChange(listener: () => void): () => void;
}

export interface StoredBundle {
  /** PEM, one certificate each, as from `splitPem`: those that every webhook of the configuration trusts. */
  readonly certificates: readonly string[];
  /** Changes with every change of the configuration. */
  readonly version: string;
}
