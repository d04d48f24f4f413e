/** Blocks are split at twice this length. */
const blockLength = 256;

/**
 * A sorted set of strings (by UTF-16 code units). It consists of blocks, so that the cost of a change does not depend on the
 * size.
 */
export class SortedStrings {
  /** Non-empty blocks in ascending order. */
  private blocks: string[][] = [];
  /** Blocks shared with the set that this one was forked from; copied before they change. */
  private borrowed: Set<string[]> | undefined;
  private length = 0;
  private flat: readonly string[] | undefined;

  get size(): number {
    return this.length;
  }

  get first(): string | undefined {
    return this.blocks[0]?.[0];
  }

  get last(): string | undefined {
    return this.blocks.at(-1)?.at(-1);
  }

  has(entry: string): boolean {
    const block = this.blocks[this.blockOf(entry)];
    return block !== undefined && block[lowerBound(block, entry)] === entry;
  }

  /** Adds an entry; it must not be present. */
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

  /** Removes an entry; it must be present. */
  delete(entry: string): void {
    const at = this.blockOf(entry);
    const block = this.own(at);
    if (block === undefined) return;
    this.flat = undefined;
    this.length--;
    block.splice(lowerBound(block, entry), 1);
    if (block.length === 0) this.blocks.splice(at, 1);
  }

  /** All entries in order, as an immutable array; the same array until the set changes. */
  toArray(): readonly string[] {
    this.flat ??= this.blocks.flat();
    return this.flat;
  }

  /** An independent set with the same entries. */
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

/** The position of the first item that is greater than or equal to `entry`. */
export function lowerBound(sorted: readonly string[], entry: string): number {
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
