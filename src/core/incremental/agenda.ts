import { aboveIndex, type Memo } from './cells.ts';

/** Results to be brought up to date, the lowest first. Iterate once; what is added meanwhile has its turn too. */
export class Agenda {
  /** By height; sparse. */
  private readonly levels: (Set<Memo> | undefined)[] = [];
  /** The level whose turn it is; the inputs come first. */
  private level = 0;

  /** Whether `memo` lies above the level whose turn it is, so that what it reads may still change. */
  isAhead(memo: Memo): boolean {
    return memo.height > this.level;
  }

  /**
   * Adds a result at its height. False if that cannot be: an index lies in between, or its level is over, as heights
   * lag where something further down came to read something else.
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
