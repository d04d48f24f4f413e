import type { IndexEntry } from './reader.ts';
import { SortedStrings } from './sorted-strings.ts';

/** The readable views of a bucket. Readers subscribe to each facet separately. */
export interface Facet {
  readonly list: readonly string[];
  readonly count: number;
  readonly several: boolean;
  readonly first: string | undefined;
}

export const facetNames = ['list', 'count', 'several', 'first'] as const satisfies readonly (keyof Facet)[];

/** The changes of entries since they were last settled. */
interface Change {
  readonly first: string | undefined;
  readonly count: number;
  /** The entries that were added or removed. */
  readonly net: Set<string>;
}

/** The entries of one bucket: sorted, reference-counted by contributor, with the changes since they were last settled. */
export class Entries {
  private sorted = new SortedStrings();
  /** The number of additional contributors of an entry; most entries have none. */
  private readonly further = new Counts();
  private change: Change | undefined;

  get size(): number {
    return this.sorted.size;
  }

  get first(): string | undefined {
    return this.sorted.first;
  }

  /** An immutable snapshot. */
  get list(): readonly string[] {
    return this.sorted.toArray();
  }

  add(entry: string): void {
    if (this.sorted.has(entry)) {
      this.further.increment(entry);
      return;
    }
    this.note(entry);
    this.sorted.insert(entry);
  }

  /** Undoes one `add` of the same entry. */
  remove(entry: string): void {
    if (this.further.decrement(entry)) return;
    this.note(entry);
    this.sorted.delete(entry);
  }

  read<F extends keyof Facet>(facet: F): Facet[F] {
    return readers[facet](this);
  }

  /** Whether a facet has changed since the entries were last settled. */
  differs(facet: keyof Facet): boolean {
    return this.change !== undefined && comparisons[facet](this, this.change);
  }

  /** Makes the current content the baseline of `differs`. */
  settle(): void {
    this.change = undefined;
  }

  /** An independent copy. Its current content is the baseline of its changes. */
  fork(): Entries {
    const copy = new Entries();
    copy.sorted = this.sorted.fork();
    copy.further.addAll(this.further);
    return copy;
  }

  /** Call before `sorted` changes: the first call records the first entry. */
  private note(entry: string): void {
    this.change ??= { first: this.first, count: this.size, net: new Set() };
    // Two changes of one entry cancel out: it was added and removed, or the reverse.
    if (!this.change.net.delete(entry)) this.change.net.add(entry);
  }
}

const readers: { readonly [F in keyof Facet]: (entries: Entries) => Facet[F] } = {
  list: (entries) => entries.list,
  count: (entries) => entries.size,
  several: (entries) => entries.size > 1,
  first: (entries) => entries.first,
};

const comparisons: { readonly [F in keyof Facet]: (entries: Entries, change: Change) => boolean } = {
  list: (_, { net }) => net.size > 0,
  count: (entries, { count }) => entries.size !== count,
  several: (entries, { count }) => entries.size > 1 !== count > 1,
  first: (entries, { first }) => entries.first !== first,
};

/** The facets of a bucket that does not exist. */
export const emptyFacets: Facet = { list: Object.freeze([]), count: 0, several: false, first: undefined };

/** Opens the entries of a bucket for modification. */
export interface OpenBuckets {
  open(bucket: string): Entries;
}

/** Replaces the contributions `before` of one contributor with those of `after`. */
export function replaceContributions(
  buckets: OpenBuckets,
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): void {
  const length = Math.max(before.length, after.length);
  for (let position = 0; position < length; position++) {
    const old = before[position];
    const young = after[position];
    if (old?.bucket === young?.bucket && old?.entry === young?.entry) continue;
    if (young !== undefined) buckets.open(young.bucket).add(young.entry);
    if (old !== undefined) buckets.open(old.bucket).remove(old.entry);
  }
}

/** Positive counts by entry. Allocates nothing until the first increment. */
class Counts {
  private counts: Map<string, number> | undefined;

  increment(entry: string): void {
    this.counts ??= new Map();
    this.counts.set(entry, (this.counts.get(entry) ?? 0) + 1);
  }

  /** Returns false if the count is 0 already. */
  decrement(entry: string): boolean {
    const count = this.counts?.get(entry);
    if (this.counts === undefined || count === undefined) return false;
    if (count > 1) this.counts.set(entry, count - 1);
    else this.counts.delete(entry);
    return true;
  }

  addAll(other: Counts): void {
    if (other.counts !== undefined && other.counts.size > 0) this.counts = new Map(other.counts);
  }
}
