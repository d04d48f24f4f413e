import type { AnyQuery } from './calls.ts';
import { type Cell, type Computation, Contributor, type ContributorTable, Memo } from './cells.ts';
import { getOrCreate } from './live-state.ts';

/** What is known of how results differ. */
export interface Differences {
  /** Whether a live result is different; true also where that cannot be told. */
  mayDiffer(memo: Memo): boolean;
}

/**
 * The live computations that read what differs, directly or through results that differ. Found step by step, and no
 * further up the strata than asked for: a hub may have any number of readers, and most are of no interest.
 */
export class Reach {
  private readonly differences: Differences;
  private readonly reached = new Set<Computation>();
  /** Those that were not looked at yet, by stratum; sparse. */
  private readonly waiting: (Computation[] | undefined)[] = [];
  private readonly memos = new Map<AnyQuery, Memo[]>();
  private readonly contributors = new Map<ContributorTable, Contributor[]>();

  constructor(differences: Differences) {
    this.differences = differences;
  }

  /** Those found so far; the list grows. */
  memosOf(query: AnyQuery): readonly Memo[] {
    return getOrCreate(this.memos, query, newList<Memo>);
  }

  /** Those found so far. */
  contributorsTo(table: ContributorTable): readonly Contributor[] {
    return this.contributors.get(table) ?? [];
  }

  /** Adds all that read `cell`, which differs; nothing where no such cell is live. */
  add(cell: Cell | undefined): void {
    const readers: Computation[] = [];
    cell?.pushReaders(readers);
    for (const reader of readers) (this.waiting[reader.stratum] ??= []).push(reader);
  }

  /** Looks at one more computation of at most that stratum; false if there is none. */
  advance(stratum: number): boolean {
    // The highest first: a few readers of a hub are followed to the end before the next are looked at.
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
