interface Node<T> {
  value: T | undefined;
  /** Absent until there is one: most nodes are leaves, and even an empty Map takes 200 bytes. */
  children: Map<string, Node<T>> | undefined;
}

function emptyNode<T>(): Node<T> {
  return { value: undefined, children: undefined };
}

function hasChildren({ children }: Node<unknown>): boolean {
  return children !== undefined && children.size > 0;
}

/**
 * Values by sequences of segments, with lookup of all prefixes of a sequence. The cost of each operation depends on the
 * number of segments, not on the number of values.
 */
export class Trie<T> {
  private readonly root: Node<T> = emptyNode();

  /** The value at exactly these segments, created by `create` if absent. */
  ensure(segments: readonly string[], create: () => T): T {
    let node = this.root;
    for (const segment of segments) {
      let child = node.children?.get(segment);
      if (child === undefined) {
        child = emptyNode();
        node.children ??= new Map();
        node.children.set(segment, child);
      }
      node = child;
    }
    node.value ??= create();
    return node.value;
  }

  /** The value at exactly these segments. */
  get(segments: readonly string[]): T | undefined {
    let node: Node<T> | undefined = this.root;
    for (const segment of segments) {
      node = node.children?.get(segment);
      if (node === undefined) return undefined;
    }
    return node.value;
  }

  /** Removes the value at exactly these segments, and nodes without other values below them. */
  remove(segments: readonly string[]): void {
    const way: Node<T>[] = [this.root];
    for (const segment of segments) {
      const child = way.at(-1)?.children?.get(segment);
      if (child === undefined) return;
      way.push(child);
    }
    const last = way.at(-1);
    if (last !== undefined) last.value = undefined;
    for (let depth = segments.length; depth > 0; depth--) {
      const node = way[depth];
      if (node === undefined || node.value !== undefined || hasChildren(node)) return;
      way[depth - 1]?.children?.delete(segments[depth - 1] ?? '');
    }
  }

  /** The values at all prefixes of `segments`, the longest first. */
  along(segments: readonly string[]): T[] {
    const found: T[] = [];
    let node: Node<T> | undefined = this.root;
    for (const segment of segments) {
      if (node.value !== undefined) found.push(node.value);
      node = node.children?.get(segment);
      if (node === undefined) return found.toReversed();
    }
    if (node.value !== undefined) found.push(node.value);
    return found.toReversed();
  }

  /** Like `along` for the segments between slashes of `path`, without a list of them. */
  alongPath(path: string): T[] {
    const found: T[] = [];
    let node: Node<T> | undefined = this.root;
    for (let start = 0; node !== undefined && start <= path.length;) {
      if (node.value !== undefined) found.unshift(node.value);
      if (node.children === undefined) return found;
      const slash = path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      node = node.children.get(path.slice(start, end));
      start = end + 1;
    }
    if (node?.value !== undefined) found.unshift(node.value);
    return found;
  }

  get isEmpty(): boolean {
    return this.root.value === undefined && !hasChildren(this.root);
  }
}
