/**
 * The only access of a computation to data. Every read is recorded, so that a result is computed again if and only if one of
 * its dependencies has changed. All arguments are strings. Results are plain, small data (JSON values, compared
 * structurally) and must never be mutated.
 */
export interface Reader {
  /** The value of an input cell; `undefined` if there is none. Reading an absent cell creates a dependency too. */
  input<T>(input: Input<T>, ...args: readonly string[]): T | undefined;
  /** The result of another computation with the same or a lower stratum. */
  query<A extends readonly string[], T>(query: Query<A, T>, ...args: A): T;
  /** The entries of an index bucket in ascending order. The index must have a lower stratum than the caller. */
  list(index: Index, bucket: string): readonly string[];
  /** The number of entries of a bucket; invalidates the reader only when the number changes. */
  count(index: Index, bucket: string): number;
  /** Whether a bucket has more than one entry; invalidates the reader only when that changes. */
  several(index: Index, bucket: string): boolean;
  /**
   * Whether a bucket has more than 1,024 entries; invalidates the reader only when that changes. A function that reads it before anything
   * else in the bucket is not one of countless readers that a single entry invalidates.
   */
  many(index: Index, bucket: string): boolean;
  /** The first entry in order; invalidates the reader only when that entry changes. */
  first(index: Index, bucket: string): string | undefined;
  /** The last entry in order; invalidates the reader only when that entry changes. */
  last(index: Index, bucket: string): string | undefined;
}

/** A family of cells written from outside, e.g. one cell per Kubernetes object. The first argument is the population. */
export interface Input<T> {
  readonly name: string;
  /** Makes the type parameter significant; never present at runtime. */
  readonly valueType?: T;
}

/** A pure function of the values that it reads. */
export interface Query<A extends readonly string[], T> {
  readonly name: string;
  /** An integer from 0. Indexes can only be read from a higher stratum, which rules out cycles. */
  readonly stratum: number;
  compute(read: Reader, ...args: A): T;
  /** Defaults to structural equality of JSON values. */
  equal?(before: T, after: T): boolean;
  /** Counts the queries of the program, for lists by query. */
  readonly number: number;
}

/**
 * A reverse relation, maintained by deltas: every cell of `over` contributes entries to buckets. Entries are ordered as
 * strings (by UTF-16 code units), so an entry that must come first must sort first. The same entry in the same bucket from
 * two contributors counts once.
 */
export interface Index {
  readonly name: string;
  readonly stratum: number;
  readonly over: Population;
  entries(read: Reader, ...args: readonly string[]): Iterable<IndexEntry>;
}

export interface IndexEntry {
  readonly bucket: string;
  readonly entry: string;
}

/** All present cells of an input whose first argument is one of `populations` (for objects: kinds). */
export interface Population {
  readonly input: Input<unknown>;
  readonly populations: readonly string[];
}

/**
 * Results exported from the kernel: every cell of `over` emits keyed values, and the kernel reports which keys were added,
 * changed or removed. Keys are unique within the emission.
 */
export interface Emission<T> {
  readonly name: string;
  readonly stratum: number;
  readonly over: Population;
  emit(read: Reader, ...args: readonly string[]): Iterable<Emitted<T>>;
}

export interface Emitted<T> {
  readonly key: string;
  readonly value: T;
}
