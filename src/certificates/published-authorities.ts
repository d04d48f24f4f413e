import type { BundleStore, StoredBundle } from './stores.ts';

/**
 * The authorities that data planes trust, in memory. The controller writes them into a ConfigMap for each data plane, so nothing has to
 * be read back.
 */
export class PublishedAuthorities implements BundleStore {
  private readonly listeners = new Set<() => void>();
  private published: readonly string[] = [];
  private version = 0;

  get certificates(): readonly string[] {
    return this.published;
  }

  async read(): Promise<StoredBundle> {
    return { certificates: this.published, version: String(this.version) };
  }

  async publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'> {
    if (version !== String(this.version)) return 'conflict';
    this.version += 1;
    this.published = certificates;
    for (const listener of this.listeners) listener();
    return 'published';
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
