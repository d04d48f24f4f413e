import type { BundleStore, StoredBundle } from './stores.ts';

/**
 * The authorities that data planes trust, in memory. The controller writes them into a ConfigMap for each data plane, so nothing has to
 * be read back.
 */
export class PublishedAuthorities implements BundleStore {
  readonly #listeners = new Set<() => void>();
  #certificates: readonly string[] = [];
  #version = 0;

  get certificates(): readonly string[] {
    return this.#certificates;
  }

  async read(): Promise<StoredBundle> {
    return { certificates: this.#certificates, version: String(this.#version) };
  }

  async publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'> {
    if (version !== String(this.#version)) return 'conflict';
    this.#version += 1;
    this.#certificates = certificates;
    for (const listener of this.#listeners) listener();
    return 'published';
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
