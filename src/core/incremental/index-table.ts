import { Cell, type Contributor, type ContributorTable } from './cells.ts';
import type { Engine } from './engine.ts';
import { emptyFacets, Entries, type Facet, type OpenBuckets, replaceContributions } from './entries.ts';
import { few, type Few, listed, nothing } from './few.ts';
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
    return home.find(facet) ?? home.add(new FacetCell(home, facet, engine.now));
  }

  /** The cell for one facet of a bucket; `undefined` if it has no readers. */
  findFacetCell(bucket: string, facet: keyof Facet): FacetCell | undefined {
    return this.buckets.get(bucket)?.find(facet);
  }

  open(bucket: string): Entries {
    const home = this.bucket(bucket);
    this.touched.add(home);
    return (home.entries ??= new Entries());
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

/** A bucket with entries or readers. */
class Bucket {
  readonly index: Index;
  readonly name: string;
  /** Exists if there are entries: thousands of references of one object may each read a bucket without any. */
  entries: Entries | undefined;
  /** The cells of the facets that have readers. Almost all buckets have at most one. */
  private cells: Few<FacetCell> = nothing;
  private readonly home: Map<string, Bucket>;

  constructor(index: Index, name: string, home: Map<string, Bucket>) {
    this.index = index;
    this.name = name;
    this.home = home;
  }

  find(facet: keyof Facet): FacetCell | undefined {
    const { cells } = this;
    if (cells instanceof FacetCell) return cells.facet === facet ? cells : undefined;
    return cells.find((cell) => cell.facet === facet);
  }

  add(cell: FacetCell): FacetCell {
    this.cells = few(listed(this.cells).concat(cell));
    return cell;
  }

  /** Does nothing if the cell was removed before. */
  remove(cell: FacetCell): void {
    this.cells = few(listed(this.cells).filter((one) => one !== cell));
    this.freeIfUnused();
  }

  settle(engine: Engine): void {
    const { entries } = this;
    if (entries === undefined) return;
    for (const cell of listed(this.cells)) if (entries.differs(cell.facet)) engine.changed(cell);
    entries.settle();
    if (entries.size === 0) this.entries = undefined;
    this.freeIfUnused();
  }

  private freeIfUnused(): void {
    if (this.entries === undefined && this.cells === nothing) this.home.delete(this.name);
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
    return facetOf(this.bucket.entries, this.facet);
  }

  free(): void {
    this.bucket.remove(this);
  }
}

/** Reads a facet of entries that may not exist. */
export function facetOf<F extends keyof Facet>(entries: Entries | undefined, facet: F): Facet[F] {
  return entries === undefined ? emptyFacets[facet] : entries.read(facet);
}
