import type { AnyQuery } from './calls.ts';
import { type Cell, type Computation, Contributor, type ContributorTable, Memo } from './cells.ts';
import { getOrCreate } from './live-state.ts';

/** Tells which results differ. */
export interface Differences {
  /** Whether a live result differs; true also if that cannot be determined. */
  mayDiffer(memo: Memo): boolean;
}

/**
 * The live computations with a changed dependency, directly or through results that differ. Found step by step, and no
 * higher in the strata than requested: a hub may have any number of readers, and most are irrelevant.
 */
export class Reach {
  private readonly differences: Differences;
  private readonly reached = new Set<Computation>();
  /** Computations not examined yet, by stratum; sparse. */
  private readonly waiting: (Computation[] | undefined)[] = [];
  private readonly memos = new Map<AnyQuery, Memo[]>();
  private readonly contributors = new Map<ContributorTable, Contributor[]>();

  constructor(differences: Differences) {
    this.differences = differences;
  }

  /** The memos found so far; the list grows. */
  memosOf(query: AnyQuery): readonly Memo[] {
    return getOrCreate(this.memos, query, newList<Memo>);
  }

  /** The contributors found so far. */
  contributorsTo(table: ContributorTable): readonly Contributor[] {
    return this.contributors.get(table) ?? [];
  }

  /** Adds all readers of `cell`, which differs. Does nothing if the cell is not live. */
  add(cell: Cell | undefined): void {
    const readers: Computation[] = [];
    cell?.pushReaders(readers);
    for (const reader of readers) (this.waiting[reader.stratum] ??= []).push(reader);
  }

  /** Examines one more computation with at most this stratum; false if there is none. */
  advance(stratum: number): boolean {
    // The highest stratum first: a few readers of a hub are followed to the end before the next are examined.
    for (let level = Math.min(stratum, this.waiting.length - 1); level >= 0; level--) {
      const computation = this.waiting[level]?.pop();
      if (computation === undefined) continue;
      this.look(computation);
      return true;
    }
    return false;
  }

  private look(computation: Computation): void {
    if (this.reached.has(computation)) return;
    this.reached.add(computation);
    if (computation instanceof Contributor) {
      getOrCreate(this.contributors, computation.table, newList<Contributor>).push(computation);
    } else if (computation instanceof Memo && this.differences.mayDiffer(computation)) {
      getOrCreate(this.memos, computation.query, newList<Memo>).push(computation);
      this.add(computation);
    }
  }
}

function newList<V>(): V[] {
  return [];
}
