/** A value and its position in a `LinkedList`, if it is in one. The owner of the value keeps it. */
export class LinkedNode<T> {
  readonly value: T;
  before: LinkedNode<T> | undefined;
  after: LinkedNode<T> | undefined;
  isTaken = false;

  constructor(value: T) {
    this.value = value;
  }
}

/** Values in insertion order. All operations take constant time and look nothing up. */
export class LinkedList<T> {
  private head: LinkedNode<T> | undefined;
  private end: LinkedNode<T> | undefined;

  get first(): LinkedNode<T> | undefined {
    return this.head;
  }

  get last(): LinkedNode<T> | undefined {
    return this.end;
  }

  /** Moves a node to the end of the list, or adds it there. */
  append(node: LinkedNode<T>): void {
    this.remove(node);
    node.isTaken = true;
    node.before = this.end;
    if (this.end === undefined) this.head = node;
    else this.end.after = node;
    this.end = node;
  }

  /** Removes a node, which must not be in another list. Has no effect if it is in none. */
  remove(node: LinkedNode<T>): void {
    if (!node.isTaken) return;
    if (node.before === undefined) this.head = node.after;
    else node.before.after = node.after;
    if (node.after === undefined) this.end = node.before;
    else node.after.before = node.before;
    node.before = undefined;
    node.after = undefined;
    node.isTaken = false;
  }
}
