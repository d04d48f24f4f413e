/** A value, until it is deleted. */
interface Cell<V> {
  value: V | undefined;
}

/**
 * A map that keeps nothing of deleted values. An ordinary Map whose entries come and go keeps them until all garbage is collected, for the same
 * reason as a Set (`LinkedSet`).
 */
export class ReleasingMap<K extends string | number, V extends object> {
  private readonly cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.cells.size;
  }

  has(key: K): boolean {
    return this.cells.has(key);
  }

  get(key: K): V | undefined {
    return this.cells.get(key)?.value;
  }

  set(key: K, value: V): void {
    const cell = this.cells.get(key);
    if (cell === undefined) this.cells.set(key, { value });
    else cell.value = value;
  }

  delete(key: K): void {
    const cell = this.cells.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.cells.delete(key);
  }

  clear(): void {
    for (const cell of this.cells.values()) cell.value = undefined;
    this.cells.clear();
  }

  *values(): Iterable<V> {
    for (const { value } of this.cells.values()) if (value !== undefined) yield value;
  }
}
