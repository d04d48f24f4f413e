import { aboveIndex, type Memo } from './cells.ts';

/** Results to update, in ascending order of height. Iterate once; the iteration includes results added while it runs. */
export class Agenda {
  /** Indexed by height; sparse. */
  private readonly levels: (Set<Memo> | undefined)[] = [];
  /** The height being processed. Inputs have height 0. */
  private level = 0;

  /** Whether `memo` lies above the current level, so that its dependencies may still change. */
  isAhead(memo: Memo): boolean {
    return memo.height > this.level;
  }

  /**
   * Adds a result at its height. Returns false if an index lies in between, or if its level has been processed: a height is
   * outdated when a dependency further down has changed its own dependencies.
   */
  add(memo: Memo): boolean {
    if (!this.isAhead(memo) || memo.height >= aboveIndex) return false;
    (this.levels[memo.height] ??= new Set()).add(memo);
    return true;
  }

  *[Symbol.iterator](): Generator<Memo> {
    for (; this.level < this.levels.length; this.level++) yield* this.levels[this.level] ?? [];
  }
}
