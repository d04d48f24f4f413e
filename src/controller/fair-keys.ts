/**
 * Keys that wait for their turn, each once. Namespaces take turns, so one with thousands of changed objects does not delay the others. The keys
 * of one namespace leave in the order in which they arrived.
 */
export class FairKeys {
  private readonly namespaceOf: (key: string) => string;
  /** Namespace → keys. The next namespace first. None is empty. */
  private readonly waiting = new Map<string, Set<string>>();

  constructor(namespaceOf: (key: string) => string) {
    this.namespaceOf = namespaceOf;
  }

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add(key: string): void {
    const namespace = this.namespaceOf(key);
    const keys = this.waiting.get(namespace) ?? new Set();
    this.waiting.set(namespace, keys.add(key));
  }

  /** Removes and returns the next key; `undefined` if none waits. */
  take(): string | undefined {
    const [next] = this.waiting;
    if (next === undefined) return undefined;
    const [namespace, keys] = next;
    const [key] = keys;
    this.waiting.delete(namespace);
    if (key !== undefined) keys.delete(key);
    if (keys.size > 0) this.waiting.set(namespace, keys);
    return key;
  }

  clear(): void {
    this.waiting.clear();
  }
}
