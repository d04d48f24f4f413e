import type { BundleStore, SecretStore, SecretText, StoredBundle, StoredSecret } from '../../src/certificates/index.ts';

/** One stored value with a version, as the API server keeps it. */
class Cell<T> {
  value: T | undefined;
  private lastVersion = 0;
  private readonly listeners = new Set<() => void>();

  get version(): string {
    return String(this.lastVersion);
  }

  write(value: T | undefined): void {
    this.value = value;
    this.lastVersion += 1;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

/** A Secret in memory; `write` is what somebody else does. */
export class MemorySecretStore implements SecretStore {
  readonly cell = new Cell<SecretText>();

  async read(): Promise<StoredSecret | undefined> {
    const { value, version } = this.cell;
    return value === undefined ? undefined : { data: value, version };
  }

  async create(data: SecretText): Promise<'created' | 'conflict'> {
    if (this.cell.value !== undefined) return 'conflict';
    this.cell.write(data);
    return 'created';
  }

  async replace(data: SecretText, version: string): Promise<'replaced' | 'conflict'> {
    if (this.cell.value === undefined || this.cell.version !== version) return 'conflict';
    this.cell.write(data);
    return 'replaced';
  }

  onChange(listener: () => void): () => void {
    return this.cell.onChange(listener);
  }
}

/** The bundle of a configuration in memory; `cell.write` is what somebody else does. */
export class MemoryBundleStore implements BundleStore {
  readonly cell = new Cell<readonly string[]>();

  async read(): Promise<StoredBundle | undefined> {
    const { value, version } = this.cell;
    return value === undefined ? undefined : { certificates: value, version };
  }

  async publish(certificates: readonly string[], version: string): Promise<'published' | 'conflict'> {
    if (this.cell.value === undefined || this.cell.version !== version) return 'conflict';
    this.cell.write(certificates);
    return 'published';
  }

  onChange(listener: () => void): () => void {
    return this.cell.onChange(listener);
  }
}
