import type { IndexEntry } from './reader.ts';
import { SortedStrings } from './sorted-strings.ts';

/** What can be read of a bucket; each facet is a subscription of its own. */
export interface Facet {
  readonly list: readonly string[];
  readonly count: number;
  readonly several: boolean;
  readonly first: string | undefined;
}

export const facetNames = ['list', 'count', 'several', 'first'] as const satisfies readonly (keyof Facet)[];

/** How entries differ from what they were when last settled. */
interface Change {
  readonly first: string | undefined;
  readonly count: number;
  /** The entries that appeared or went away. */
  readonly net: Set<string>;
}

/** The entries of one bucket: sorted, counted by contributor, aware of what changed since they were last settled. */
export class Entries {
  private sorted = new SortedStrings();
  /** How many contributors an entry has beyond the first; most have none. */
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

  /** Takes back one `add` of the same entry. */
  remove(entry: string): void {
    if (this.further.decrement(entry)) return;
    this.note(entry);
    this.sorted.delete(entry);
  }

  read<F extends keyof Facet>(facet: F): Facet[F] {
    return readers[facet](this);
  }

  /** Whether a facet is different from what it was when last settled. */
  differs(facet: keyof Facet): boolean {
    return this.change !== undefined && comparisons[facet](this, this.change);
  }

  /** Makes the present content the one that `differs` compares with. */
  settle(): void {
    this.change = undefined;
  }

  /** A copy that may change while this stays as it is; its changes are counted from here. */
  fork(): Entries {
    const copy = new Entries();
    copy.sorted = this.sorted.fork();
    copy.further.addAll(this.further);
    return copy;
  }

  /** Must run before `sorted` changes: the first note remembers the first entry. */
  private note(entry: string): void {
    this.change ??= { first: this.first, count: this.size, net: new Set() };
    // What happens twice to one entry cancels out: it appeared and went away, or the reverse.
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

/** What a bucket that does not exist answers. */
export const emptyFacets: Facet = { list: Object.freeze([]), count: 0, several: false, first: undefined };

/** Where contributions go: hands out the entries of a bucket for changing them. */
export interface OpenBuckets {
  open(bucket: string): Entries;
}

/** Takes back the contributions `before` of one contributor and makes those of `after`. */
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

/** Positive counts by entry. Allocates nothing until the first. */
class Counts {
  private counts: Map<string, number> | undefined;

  increment(entry: string): void {
    this.counts ??= new Map();
    this.counts.set(entry, (this.counts.get(entry) ?? 0) + 1);
  }

  /** Whether there was anything to take away from. */
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
