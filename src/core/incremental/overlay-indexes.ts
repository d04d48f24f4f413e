import type { AnyQuery, Frame } from './calls.ts';
import type { Computation, Contributor, Memo } from './cells.ts';
import { Entries, facetNames, type OpenBuckets, replaceContributions } from './entries.ts';
import { listed, type Few } from './few.ts';
import type { IndexTable } from './index-table.ts';
import { keyOf } from './key.ts';
import { getOrCreate, type LiveState } from './live-state.ts';
import { type Differences, Reach } from './reach.ts';
import type { Index, IndexEntry, Input, Reader } from './reader.ts';

/** An input cell with its value under the overlay. */
export interface OverlaidCell {
  readonly input: Input<unknown>;
  readonly args: readonly string[];
  readonly value: unknown;
}

/** The functions of an overlay that its indexes use. */
export interface OverlayFunctions extends Differences {
  /** All cells that differ from the live ones. */
  readonly overlaidCells: readonly OverlaidCell[];
  /** Whether a dependency of a live computation differs; true also if that cannot be determined. */
  mayBeReached(computation: Computation): boolean;
  /** Runs a function under the overlay on behalf of `frame`. Rethrows its errors. */
  run<T>(frame: Frame, compute: (read: Reader) => T): T;
}

/**
 * The buckets that differ under an overlay. Indexes are compared in order of stratum, up to the requested one: contributors
 * that the writes may affect run again, all others keep their output.
 */
export class OverlayIndexes {
  private readonly live: LiveState;
  private readonly overlay: OverlayFunctions;
  private readonly compared = new Map<Index, ForkedBuckets>();
  /** The position, among the ordered indexes, of the first that was not compared yet. */
  private next = 0;
  private reach: Reach | undefined;

  constructor(live: LiveState, overlay: OverlayFunctions) {
    this.live = live;
    this.overlay = overlay;
  }

  /** The entries of a bucket if contributions to it differ; their changes are relative to the live bucket. */
  changedEntries(index: Index, bucket: string): Entries | undefined {
    while (this.compareNext(index.stratum));
    return this.compared.get(index)?.find(bucket);
  }

  /**
   * The live results of `query` that the writes may affect: first those reached directly, then through indexes. Calls
   * `mayContinue` before each step and yields `undefined` after it.
   */
  *reachedMemos(query: AnyQuery, mayContinue: () => boolean): Generator<Memo | undefined> {
    const reach = this.currentReach();
    const memos = reach.memosOf(query);
    // A result that reads an index needs all changes of it. One that is asked for first would make them all in a single step.
    for (const _ of this.comparingAll(query.stratum - 1)) {
      yield undefined;
      if (!mayContinue()) return;
    }
    let position = 0;
    do {
      for (let memo = memos[position]; memo !== undefined; memo = memos[position]) {
        position++;
        yield memo;
      }
      yield undefined;
    } while (mayContinue() && (reach.advance(query.stratum) || this.compareNext(query.stratum - 1)));
  }

  /** Compares all indexes with at most this stratum, step by step. Steps that are left out are made up for on demand. */
  *comparingAll(stratum: number): Generator<undefined> {
    for (let table = this.nextTable(); table !== undefined && table.stratum <= stratum; table = this.nextTable()) {
      yield* this.comparing(table);
    }
  }

  /** Compares the next index if its stratum is at most `stratum`; otherwise returns false. */
  private compareNext(stratum: number): boolean {
    const table = this.nextTable();
    if (table === undefined || table.stratum > stratum) return false;
    for (const _ of this.comparing(table));
    return true;
  }

  /** Whether the entries of an index may differ, after all computations of its stratum were examined. */
  private isReached(table: IndexTable, reach: Reach): boolean {
    if (reach.contributorsTo(table).length > 0) return true;
    for (const { input, args } of this.overlay.overlaidCells) if (table.isOver(input, args)) return true;
    return false;
  }

  private nextTable(): IndexTable | undefined {
    return this.live.orderedIndexes[this.next];
  }

  private currentReach(): Reach {
    if (this.reach === undefined) {
      this.reach = new Reach(this.overlay);
      for (const { input, args } of this.overlay.overlaidCells) this.reach.add(this.live.findInput(input, keyOf(args)));
    }
    return this.reach;
  }

  /** All or nothing: if a contributor throws, or the steps are not completed, the index remains to be compared. */
  private *comparing(table: IndexTable): Generator<undefined> {
    const reach = this.currentReach();
    while (reach.advance(table.stratum)) yield;
    // Somebody has read the index between two steps, which has compared it.
    if (this.nextTable() !== table) return;
    if (!this.isReached(table, reach)) {
      this.next++;
      return;
    }
    const buckets = new ForkedBuckets(table);
    const removed = this.compareDriving(table, buckets);
    for (const contributor of reach.contributorsTo(table)) {
      yield;
      if (this.nextTable() !== table) return;
      if (removed.has(contributor) || !this.overlay.mayBeReached(contributor)) continue;
      replaceContributions(
        buckets,
        listed(contributor.output as Few<IndexEntry>),
        this.produce(table, contributor.args),
      );
    }
    if (this.nextTable() !== table) return;
    this.compared.set(table.index, buckets);
    this.next++;
    buckets.spreadTo(reach);
  }

  /** Applies the contributors that appear or disappear with their cells. Returns those that disappear. */
  private compareDriving(table: IndexTable, buckets: ForkedBuckets): ReadonlySet<Contributor> {
    let removed: Set<Contributor> | undefined;
    for (const { input, args, value } of this.overlay.overlaidCells) {
      if (!table.isOver(input, args)) continue;
      const contributor = this.live.findInput(input, keyOf(args))?.contributors.find((one) => one.table === table);
      if (contributor === undefined) {
        replaceContributions(buckets, [], this.produce(table, args));
      } else if (value === undefined) {
        removed ??= new Set();
        removed.add(contributor);
        replaceContributions(buckets, listed(contributor.output as Few<IndexEntry>), []);
      }
    }
    return removed ?? none;
  }

  private produce(table: IndexTable, args: readonly string[]): readonly IndexEntry[] {
    const frame: Frame = { name: table.name, stratum: table.stratum, args };
    return this.overlay.run(frame, (read) => [...table.produce(read, args)]);
  }
}

const none: ReadonlySet<Contributor> = new Set();

/** Copies of the live buckets that were opened. */
class ForkedBuckets implements OpenBuckets {
  private readonly table: IndexTable;
  /** Most indexes do not differ. */
  private forks: Map<string, Entries> | undefined;

  constructor(table: IndexTable) {
    this.table = table;
  }

  open(bucket: string): Entries {
    this.forks ??= new Map();
    return getOrCreate(this.forks, bucket, () => this.table.entriesOf(bucket)?.fork() ?? new Entries());
  }

  find(bucket: string): Entries | undefined {
    return this.forks?.get(bucket);
  }

  spreadTo(reach: Reach): void {
    if (this.forks === undefined) return;
    for (const [bucket, entries] of this.forks) {
      for (const facet of facetNames) {
        if (entries.differs(facet)) reach.add(this.table.findFacetCell(bucket, facet));
      }
    }
  }
}
