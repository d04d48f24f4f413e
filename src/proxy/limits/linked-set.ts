import { LinkedList, LinkedNode } from './linked-list.ts';

/** Values in insertion order. Adding, removing and taking the first or the last value take constant time. */
export class LinkedSet<T> {
  private readonly nodes = new Map<T, LinkedNode<T>>();
  private readonly list = new LinkedList<T>();

  get size(): number {
    return this.nodes.size;
  }

  get first(): T | undefined {
    return this.list.first?.value;
  }

  get last(): T | undefined {
    return this.list.last?.value;
  }

  has(value: T): boolean {
    return this.nodes.has(value);
  }

  /** Appends a value that is not in the set. */
  add(value: T): void {
    const node = new LinkedNode(value);
    this.nodes.set(value, node);
    this.list.append(node);
  }

  /** Removes a value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const node = this.nodes.get(value);
    if (node === undefined) return false;
    this.nodes.delete(value);
    this.list.remove(node);
    return true;
  }

  /** Moves a value to the end, so that it is the last one. Returns whether it is in the set. */
  renew(value: T): boolean {
    const node = this.nodes.get(value);
    if (node === undefined) return false;
    this.list.append(node);
    return true;
  }

  /** In order of addition, regardless of `renew`. */
  [Symbol.iterator](): Iterator<T> {
    return this.nodes.keys();
  }
}
