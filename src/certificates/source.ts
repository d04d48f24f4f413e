/** What a TLS server proves itself with, as PEM. Never logged, never in messages. */
export interface CertificateMaterial {
  /** The leaf first, then intermediates. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** Where a server finds its certificate, now and after each renewal. */
export interface CertificateSource {
  current(): CertificateMaterial;
  /** Calls `listener` after each change. Returns how to stop that. */
  onChange(listener: () => void): () => void;
}

/** A source in memory whose material is replaced from outside. */
export interface ReplaceableSource extends CertificateSource {
  replace(material: CertificateMaterial): void;
}

/** A source that starts with `first`. */
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
