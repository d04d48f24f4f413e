import { createHash } from 'node:crypto';

/** Values by the text that they are read from: equal texts share one value, which is forgotten when nobody uses it any more. */
export class SharedByText<T extends object> {
  private readonly values = new Map<string, WeakRef<T>>();
  private readonly unused = new FinalizationRegistry<string>((digest) => {
    if (this.values.get(digest)?.deref() === undefined) this.values.delete(digest);
  });

  /** Returns the value for a text. Reads it if nobody uses it yet. */
  get(text: string, read: () => T): T {
    const digest = createHash('sha256').update(text).digest('base64');
    const known = this.values.get(digest)?.deref();
    if (known !== undefined) return known;
    const value = read();
    this.values.set(digest, new WeakRef(value));
    this.unused.register(value, digest);
    return value;
  }
}
