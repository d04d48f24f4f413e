import { LinkedList, LinkedNode } from './linked-list.ts';

/** The number of values in which `findEarly` searches. */
const early = 64;

/** The positions of a value in sets. */
type Placed<T> = Record<symbol, LinkedNode<T> | undefined>;

/**
 * Values in order of addition. All operations but iteration take constant time.
 *
 * A Set whose values come and go would make garbage collection expensive: V8 gives it a new table again and again, and each old one refers to the
 * next one and to the values of its time. One old table that has reached old space keeps all later values until all garbage is collected.
 */
export class LinkedSet<T extends object> {
  private readonly list = new LinkedList<T>();
  private readonly place: symbol;

  /**
   * `place` is the property for the positions of the values. A value is in at most one set with the same `place`. Sets of the same purpose share it:
   * V8 would give the values of each further property another shape, and access to them would become slow.
   */
  constructor(place: symbol) {
    this.place = place;
  }

  get size(): number {
    return this.list.size;
  }

  get first(): T | undefined {
    return this.list.first?.value;
  }

  get last(): T | undefined {
    return this.list.last?.value;
  }

  has(value: T): boolean {
    return placed(value)[this.place]?.list === this.list;
  }

  /** Makes a value the last one. */
  add(value: T): void {
    this.list.append((placed(value)[this.place] ??= new LinkedNode(value)));
  }

  /** Removes a value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const node = placed(value)[this.place];
    if (node?.list !== this.list) return false;
    this.list.remove(node);
    return true;
  }

  /** Makes a value of the set the last one. Returns whether it is in the set. */
  renew(value: T): boolean {
    const isIn = this.has(value);
    if (isIn) this.add(value);
    return isIn;
  }

  /** Returns the first value that matches; `undefined` if none of the first 64 does. */
  findEarly(matches: (value: T) => boolean): T | undefined {
    let node = this.list.first;
    for (let count = 0; node !== undefined && count < early; count += 1) {
      if (matches(node.value)) return node.value;
      node = node.after;
    }
    return undefined;
  }

  clear(): void {
    this.list.clear();
  }

  /** The values at the start of the iteration, without those that are removed before their turn. */
  *[Symbol.iterator](): Iterator<T> {
    const values: T[] = [];
    for (let node = this.list.first; node !== undefined; node = node.after) values.push(node.value);
    for (const value of values) if (this.has(value)) yield value;
  }
}

function placed<T extends object>(value: T): Placed<T> {
  return value as Placed<T>;
}
