interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/** Values in insertion order. Adding, removing and taking the first or the last value take constant time. */
export class LinkedSet<T> {
  private readonly links = new Map<T, Link<T>>();
  private head: Link<T> | undefined;
  private end: Link<T> | undefined;

  get size(): number {
    return this.links.size;
  }

  get first(): T | undefined {
    return this.head?.value;
  }

  get last(): T | undefined {
    return this.end?.value;
  }

  has(value: T): boolean {
    return this.links.has(value);
  }

  /** Appends a value that is not in the set. */
  add(value: T): void {
    const link: Link<T> = { value, before: this.end, after: undefined };
    if (this.end === undefined) this.head = link;
    else this.end.after = link;
    this.end = link;
    this.links.set(value, link);
  }

  /** Removes a value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const link = this.links.get(value);
    if (link === undefined) return false;
    this.links.delete(value);
    if (link.before === undefined) this.head = link.after;
    else link.before.after = link.after;
    if (link.after === undefined) this.end = link.before;
    else link.after.before = link.before;
    return true;
  }

  /** Removes and returns all values. */
  drain(): readonly T[] {
    const values = [...this.links.keys()];
    this.links.clear();
    this.head = undefined;
    this.end = undefined;
    return values;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.links.keys();
  }
}
