/**
 * The only way by which a computation sees anything: every read is remembered, so that the result is computed
 * again when, and only when, what it read has changed. All arguments are strings; results are plain, small data
 * (JSON values, compared structurally) and must never be mutated.
 */
export interface Reader {
  /** The value of an input cell; `undefined` where there is none. Reading an absent cell is a dependency too. */
  input<T>(input: Input<T>, ...args: readonly string[]): T | undefined;
  /** The result of another computation, of the same or a lower stratum. */
  query<A extends readonly string[], T>(query: Query<A, T>, ...args: A): T;
  /** The entries of an index bucket in ascending order; of a lower stratum than the caller. */
  list(index: Index, bucket: string): readonly string[];
  /** How many entries a bucket has; wakes the reader only when the number changes. */
  count(index: Index, bucket: string): number;
  /** Whether a bucket has more than one entry; wakes the reader only when that changes. */
  several(index: Index, bucket: string): boolean;
  /** The first entry in order; wakes the reader only when that entry changes. */
  first(index: Index, bucket: string): string | undefined;
}

/** A family of cells that the outside writes, e.g. one cell per Kubernetes object. Its first argument is the population. */
export interface Input<T> {
  readonly name: string;
  /** Makes the type parameter significant; never present at run time. */
  readonly valueType?: T;
}

/** A pure function of what it reads. */
export interface Query<A extends readonly string[], T> {
  readonly name: string;
  /** A whole number from 0. Indexes may be read from a higher stratum only, which rules out cycles. */
  readonly stratum: number;
  compute(read: Reader, ...args: A): T;
  /** Structural equality of JSON values unless given. */
  equal?(before: T, after: T): boolean;
}

/**
 * A reverse relation, kept by deltas: every cell of `over` contributes entries to buckets. Entries sort as strings
 * (by UTF-16 code units), so what must come first must sort first. The same entry in the same bucket by two
 * contributors counts once.
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
 * Results that leave the kernel: every cell of `over` emits keyed values; the kernel reports which keys appeared,
 * changed or went away. Keys are unique over the whole emission.
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
