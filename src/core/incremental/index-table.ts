import { Cell, type Contributor, type ContributorTable } from './cells.ts';
import type { Engine } from './engine.ts';
import { emptyFacets, Entries, type Facet, facetNames, type OpenBuckets, replaceContributions } from './entries.ts';
import { listed } from './few.ts';
import type { Steps } from '../text/steps.ts';
import type { Index, IndexEntry, Input, Reader } from './reader.ts';

/** The content of one index, maintained by deltas: the cost of a change depends on the changed contributor only. */
export class IndexTable implements ContributorTable<IndexEntry>, OpenBuckets {
  readonly index: Index;
  readonly queue: Contributor<IndexEntry>[] = [];
  private readonly buckets = new Map<string, Bucket>();
  private readonly touched = new Set<Bucket>();
  private readonly populations: ReadonlySet<string>;

  constructor(index: Index) {
    this.index = index;
    this.populations = new Set(index.over.populations);
  }

  get name(): string {
    return this.index.name;
  }

  get stratum(): number {
    return this.index.stratum;
  }

  get bucketCount(): number {
    return this.buckets.size;
  }

  /** Whether a present cell with these arguments contributes to the index. */
  isOver(input: Input<unknown>, [population]: readonly string[]): boolean {
    return input === this.index.over.input && population !== undefined && this.populations.has(population);
  }

  /** All contributors to a bucket share the string of its name: a route at many listeners has thousands of them. */
  *produce(read: Reader, args: readonly string[]): Iterable<IndexEntry> {
    for (const { bucket, entry } of this.index.entries(read, ...args))
      yield { bucket: this.buckets.get(bucket)?.name ?? bucket, entry };
  }

  /** The entries of a bucket, read-only; `undefined` if the bucket does not exist. */
  entriesOf(bucket: string): Entries | undefined {
    return this.buckets.get(bucket)?.entries;
  }

  /** The cell for one facet of a bucket. Creates the cell and the bucket if necessary. */
  facetCell(bucket: string, facet: keyof Facet, engine: Engine): FacetCell {
    const home = this.bucket(bucket);
    return (home[facet] ??= new FacetCell(home, facet, engine.now));
  }

  /** The cell for one facet of a bucket; `undefined` if it has no readers. */
  findFacetCell(bucket: string, facet: keyof Facet): FacetCell | undefined {
    return this.buckets.get(bucket)?.[facet];
  }

  open(bucket: string): Entries {
    const home = this.bucket(bucket);
    this.touched.add(home);
    return home.entries;
  }

  /**
   * Applies the output of queued contributors and marks readers of changed facets. Appends errors to `errors`. Each contributor is a
   * step.
   */
  *settle(engine: Engine, errors: unknown[]): Steps<void> {
    if (this.queue.length === 0) return;
    for (const contributor of this.queue) {
      const before = contributor.output;
      try {
        engine.update(contributor);
      } catch (error) {
        errors.push(error);
      }
      if (contributor.output !== before) replaceContributions(this, listed(before), listed(contributor.output));
      yield;
    }
    this.queue.length = 0;
    for (const bucket of this.touched) bucket.settle(engine);
    this.touched.clear();
  }

  private bucket(name: string): Bucket {
    let bucket = this.buckets.get(name);
    if (bucket === undefined) {
      bucket = new Bucket(this.index, name, this.buckets);
      this.buckets.set(name, bucket);
    }
    return bucket;
  }
}

class Bucket implements Record<keyof Facet, FacetCell | undefined> {
  readonly index: Index;
  readonly name: string;
  readonly entries = new Entries();
  list: FacetCell | undefined;
  count: FacetCell | undefined;
  several: FacetCell | undefined;
  many: FacetCell | undefined;
  first: FacetCell | undefined;
  last: FacetCell | undefined;
  private readonly home: Map<string, Bucket>;

  constructor(index: Index, name: string, home: Map<string, Bucket>) {
    this.index = index;
    this.name = name;
    this.home = home;
  }

  settle(engine: Engine): void {
    for (const name of facetNames) {
      const cell = this[name];
      if (cell !== undefined && this.entries.differs(name)) engine.changed(cell);
    }
    this.entries.settle();
    this.freeIfUnused();
  }

  freeIfUnused(): void {
    if (this.entries.size === 0 && facetNames.every((name) => this[name] === undefined)) this.home.delete(this.name);
  }
}

/** A facet of a bucket that has readers. */
export class FacetCell extends Cell {
  readonly facet: keyof Facet;
  private readonly bucket: Bucket;

  constructor(bucket: Bucket, facet: keyof Facet, now: number) {
    super(now);
    this.bucket = bucket;
    this.facet = facet;
  }

  get index(): Index {
    return this.bucket.index;
  }

  get bucketName(): string {
    return this.bucket.name;
  }

  get value(): Facet[keyof Facet] {
    return this.bucket.entries.read(this.facet);
  }

  free(): void {
    this.bucket[this.facet] = undefined;
    this.bucket.freeIfUnused();
  }
}

/** Reads a facet of entries that may not exist. */
export function facetOf<F extends keyof Facet>(entries: Entries | undefined, facet: F): Facet[F] {
  return entries === undefined ? emptyFacets[facet] : entries.read(facet);
}
