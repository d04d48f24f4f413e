/**
 * What certificate management needs of a cluster. Whoever implements these ports must pass the contract suite
 * (`test/contract/certificate-stores.ts`). All of them reject where the store cannot be reached.
 */

/** One Secret. Values are text, not base64. */
export interface SecretStore {
  read(): Promise<StoredSecret | undefined>;
  /** `conflict`: somebody else created it before. */
  create(data: SecretText): Promise<'created' | 'conflict'>;
  /** `conflict`: it changed since `version` was read, or is gone. */
  replace(data: SecretText, version: string): Promise<'replaced' | 'conflict'>;
  /** Calls `listener` after each change, one's own included; some may be missed. Returns how to stop that. */
  onChange(listener: () => void): () => void;
}

export type SecretText = Readonly<Record<string, string>>;

export interface StoredSecret {
  readonly data: SecretText;
  readonly version: string;
}

/** What the API server trusts when it calls the webhook. */
export interface BundleStore {
  /** `undefined` where there is no configuration. Never from a cache. */
  read(): Promise<StoredBundle | undefined>;
  /** `conflict`: the configuration changed since `version` was read, or is gone. */
  publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'>;
  /** Calls `listener` after each change, one's own included; some may be missed. Returns how to stop that. */
  onChange(listener: () => void): () => void;
}

export interface StoredBundle {
  /** PEM, one certificate each, as `splitPem` gives them; what every webhook of the configuration trusts. */
  readonly certificates: readonly string[];
  /** Changes with every change of the configuration. */
  readonly version: string;
}
