/** Blocks are split at twice this length. */
const blockLength = 256;

/**
 * A sorted set of strings (by UTF-16 code units), in blocks so that a change costs the same in a small set and in a
 * big one.
 */
export class SortedStrings {
  /** None is empty, and each lies before the next. */
  private blocks: string[][] = [];
  /** Blocks that belong to the set this one was forked from, to be copied before they change. */
  private borrowed: Set<string[]> | undefined;
  private length = 0;
  private flat: readonly string[] | undefined;

  get size(): number {
    return this.length;
  }

  get first(): string | undefined {
    return this.blocks[0]?.[0];
  }

  has(entry: string): boolean {
    const block = this.blocks[this.blockOf(entry)];
    return block !== undefined && block[lowerBound(block, entry)] === entry;
  }

  /** Adds an entry that is not there yet. */
  insert(entry: string): void {
    this.flat = undefined;
    this.length++;
    const at = Math.max(0, Math.min(this.blockOf(entry), this.blocks.length - 1));
    const block = this.own(at);
    if (block === undefined) {
      this.blocks.push([entry]);
      return;
    }
    block.splice(lowerBound(block, entry), 0, entry);
    if (block.length >= 2 * blockLength) this.blocks.splice(at + 1, 0, block.splice(blockLength));
  }

  /** Removes an entry that is there. */
  delete(entry: string): void {
    const at = this.blockOf(entry);
    const block = this.own(at);
    if (block === undefined) return;
    this.flat = undefined;
    this.length--;
    block.splice(lowerBound(block, entry), 1);
    if (block.length === 0) this.blocks.splice(at, 1);
  }

  /** All entries in order; never changed afterwards, and the same array until the set changes. */
  toArray(): readonly string[] {
    this.flat ??= this.blocks.flat();
    return this.flat;
  }

  /** A set with the same entries, which may change while this one stays as it is. */
  fork(): SortedStrings {
    const copy = new SortedStrings();
    copy.blocks = [...this.blocks];
    copy.borrowed = new Set(this.blocks);
    copy.length = this.length;
    copy.flat = this.flat;
    return copy;
  }

  private own(at: number): string[] | undefined {
    const block = this.blocks[at];
    if (block === undefined || this.borrowed?.has(block) !== true) return block;
    return (this.blocks[at] = [...block]);
  }

  /** The position of the first block that does not end before `entry`. */
  private blockOf(entry: string): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = this.blocks[middle]?.at(-1);
      if (last !== undefined && last < entry) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The position of the first item that is not below `entry`. */
function lowerBound(sorted: readonly string[], entry: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = sorted[middle];
    if (candidate !== undefined && candidate < entry) low = middle + 1;
    else high = middle;
  }
  return low;
}
