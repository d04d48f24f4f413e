/** Certificate and key of a TLS server, as PEM. Secret: must not be logged or appear in messages. */
export interface CertificateMaterial {
  /** The leaf first, then intermediates. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** The current certificate of a server, and notifications of its renewals. */
export interface CertificateSource {
  current(): CertificateMaterial;
  /** Calls `listener` after each change. Returns how to unsubscribe. */
  onChange(listener: () => void): () => void;
}

/** A source in memory whose material can be replaced. */
export interface ReplaceableSource extends CertificateSource {
  replace(material: CertificateMaterial): void;
}

/** Creates a source that starts with `first`. */
export function createCertificateSource(first: CertificateMaterial): ReplaceableSource {
  const listeners = new Set<() => void>();
  let material = first;
  return {
    current: () => material,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    replace(next) {
      material = next;
      for (const listener of listeners) listener();
    },
  };
}
