import type { IndexEntry } from './reader.ts';
import { SortedStrings } from './sorted-strings.ts';

/** The readable views of a bucket. Readers subscribe to each facet separately. */
export interface Facet {
  readonly list: readonly string[];
  readonly count: number;
  readonly several: boolean;
  readonly many: boolean;
  readonly first: string | undefined;
  readonly last: string | undefined;
}

/** The largest number of entries that are not many. */
const maxFew = 1_024;

export const facetNames = [
  'list',
  'count',
  'several',
  'many',
  'first',
  'last',
] as const satisfies readonly (keyof Facet)[];

/** The changes of entries since they were last settled. */
interface Change {
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly count: number;
  /** The entries that were added or removed. */
  readonly net: Set<string>;
}

/** The entries of one bucket: sorted, reference-counted by contributor, with the changes since they were last settled. */
export class Entries {
  /** The entry if there is one and `sorted` does not exist: most buckets never have more. */
  private only: string | undefined;
  private sorted: SortedStrings | undefined;
  /** The number of additional contributors by entry; most entries have none. */
  private further: Map<string, number> | undefined;
  private change: Change | undefined;

  get size(): number {
    if (this.sorted !== undefined) return this.sorted.size;
    return this.only === undefined ? 0 : 1;
  }

  get first(): string | undefined {
    return this.sorted === undefined ? this.only : this.sorted.first;
  }

  get last(): string | undefined {
    return this.sorted === undefined ? this.only : this.sorted.last;
  }

  /** An immutable snapshot. */
  get list(): readonly string[] {
    if (this.sorted !== undefined) return this.sorted.toArray();
    return this.only === undefined ? emptyFacets.list : [this.only];
  }

  add(entry: string): void {
    if (this.has(entry)) {
      this.further ??= new Map();
      this.further.set(entry, (this.further.get(entry) ?? 0) + 1);
      return;
    }
    this.note(entry);
    if (this.size === 0) this.only = entry;
    else this.several().insert(entry);
  }

  /** Undoes one `add` of the same entry. */
  remove(entry: string): void {
    const count = this.further?.get(entry) ?? 0;
    if (count > 1) this.further?.set(entry, count - 1);
    else if (count === 1) this.further?.delete(entry);
    else {
      this.note(entry);
      this.drop(entry);
    }
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
    copy.only = this.only;
    copy.sorted = this.sorted?.fork();
    copy.further = this.further === undefined ? undefined : new Map(this.further);
    return copy;
  }

  private has(entry: string): boolean {
    return this.sorted === undefined ? this.only === entry : this.sorted.has(entry);
  }

  /** The entries as a sorted set, in which there is room for more than one. */
  private several(): SortedStrings {
    if (this.sorted === undefined) {
      this.sorted = new SortedStrings();
      if (this.only !== undefined) this.sorted.insert(this.only);
      this.only = undefined;
    }
    return this.sorted;
  }

  private drop(entry: string): void {
    if (this.sorted === undefined) this.only = undefined;
    else this.sorted.delete(entry);
    // A set that became empty would remain as large as it was.
    if (this.sorted?.size === 0) this.sorted = undefined;
  }

  /** Call before the entries change: the first call records the first and the last entry. */
  private note(entry: string): void {
    this.change ??= { first: this.first, last: this.last, count: this.size, net: new Set() };
    // Two changes of one entry cancel out: it was added and removed, or the reverse.
    if (!this.change.net.delete(entry)) this.change.net.add(entry);
  }
}

const readers: { readonly [F in keyof Facet]: (entries: Entries) => Facet[F] } = {
  list: (entries) => entries.list,
  count: (entries) => entries.size,
  several: (entries) => entries.size > 1,
  many: (entries) => entries.size > maxFew,
  first: (entries) => entries.first,
  last: (entries) => entries.last,
};

const comparisons: { readonly [F in keyof Facet]: (entries: Entries, change: Change) => boolean } = {
  list: (_, { net }) => net.size > 0,
  count: (entries, { count }) => entries.size !== count,
  several: (entries, { count }) => entries.size > 1 !== count > 1,
  many: (entries, { count }) => entries.size > maxFew !== count > maxFew,
  first: (entries, { first }) => entries.first !== first,
  last: (entries, { last }) => entries.last !== last,
};

/** The facets of a bucket that does not exist. */
export const emptyFacets: Facet = {
  list: Object.freeze([]),
  count: 0,
  several: false,
  many: false,
  first: undefined,
  last: undefined,
};

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
