/** A value and its position in a `LinkedList`, if it is in one. */
export class LinkedNode<T> {
  readonly value: T;
  /** The list that it is in. */
  list: LinkedList<T> | undefined;
  before: LinkedNode<T> | undefined;
  after: LinkedNode<T> | undefined;

  constructor(value: T) {
    this.value = value;
  }
}

/** Values in insertion order. The owners of the values keep the nodes. All operations take constant time and look nothing up. */
export class LinkedList<T> {
  private head: LinkedNode<T> | undefined;
  private end: LinkedNode<T> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  get first(): LinkedNode<T> | undefined {
    return this.head;
  }

  get last(): LinkedNode<T> | undefined {
    return this.end;
  }

  /** Moves a node to the end of the list, from wherever it is. */
  append(node: LinkedNode<T>): void {
    node.list?.remove(node);
    node.list = this;
    node.before = this.end;
    if (this.end === undefined) this.head = node;
    else this.end.after = node;
    this.end = node;
    this.count += 1;
  }

  /** Removes a node. Has no effect if it is not in this list. */
  remove(node: LinkedNode<T>): void {
    if (node.list !== this) return;
    if (node.before === undefined) this.head = node.after;
    else node.before.after = node.after;
    if (node.after === undefined) this.end = node.before;
    else node.after.before = node.before;
    node.before = undefined;
    node.after = undefined;
    node.list = undefined;
    this.count -= 1;
  }

  /** Removes all nodes. */
  clear(): void {
    for (let node = this.head; node !== undefined; node = this.head) this.remove(node);
  }
}
