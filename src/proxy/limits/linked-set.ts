import { LinkedList, Place } from './linked-list.ts';

/** Values in insertion order. Adding, removing and taking the first or the last value take constant time. */
export class LinkedSet<T> {
  private readonly places = new Map<T, Place<T>>();
  private readonly list = new LinkedList<T>();

  get size(): number {
    return this.places.size;
  }

  get first(): T | undefined {
    return this.list.first?.value;
  }

  get last(): T | undefined {
    return this.list.last?.value;
  }

  has(value: T): boolean {
    return this.places.has(value);
  }

  /** Appends a value that is not in the set. */
  add(value: T): void {
    const place = new Place(value);
    this.places.set(value, place);
    this.list.append(place);
  }

  /** Removes a value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const place = this.places.get(value);
    if (place === undefined) return false;
    this.places.delete(value);
    this.list.remove(place);
    return true;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.places.keys();
  }
}
