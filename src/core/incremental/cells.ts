import type { AnyQuery, Frame } from './calls.ts';
import { deepEqual } from './equal.ts';
import type { Input, Reader } from './reader.ts';

const never = -1;
const nothing: readonly Cell[] = [];

/** The minimum height of cells that depend on an index. */
export const aboveIndex = 2 ** 28;

/** A value that a computation can read. Keeps track of its readers. */
export abstract class Cell {
  /** The time of the engine's clock at which the value last changed. */
  changedAt: number;
  /** The number of queries between the cell and the inputs, as far as known; at least `aboveIndex` if an index lies in between. */
  height = aboveIndex;
  /** Marks cells that a traversal has visited; see `Engine`. */
  stamp = 0;
  /** A single reader is stored without a Set: most cells have one reader or none, so Sets would use most of the memory. */
  private readers: Computation | Set<Computation> | undefined;

  constructor(now: number) {
    this.changedAt = now;
  }

  get isRead(): boolean {
    return this.readers !== undefined;
  }

  attach(reader: Computation): void {
    if (this.readers === undefined) this.readers = reader;
    else if (this.readers instanceof Set) this.readers.add(reader);
    else if (this.readers !== reader) this.readers = new Set([this.readers, reader]);
  }

  detach(reader: Computation): void {
    if (this.readers instanceof Set) {
      this.readers.delete(reader);
      if (this.readers.size === 0) this.readers = undefined;
    } else if (this.readers === reader) {
      this.readers = undefined;
    }
  }

  pushReaders(stack: Computation[]): void {
    if (this.readers === undefined) return;
    if (this.readers instanceof Set) for (const reader of this.readers) stack.push(reader);
    else stack.push(this.readers);
  }

  /** Removes the cell from its container. Called when the cell has no readers; idempotent. */
  abstract free(): void;
}

/** An input value, or its absence. */
export class InputCell extends Cell {
  readonly input: Input<unknown>;
  readonly args: readonly string[];
  override height = 0;
  value: unknown;
  /** The contributors that exist while this cell is present. */
  contributors: readonly Contributor[] = [];
  readonly key: string;
  private readonly home: Map<string, InputCell>;

  constructor(
    at: { input: Input<unknown>; args: readonly string[]; key: string; home: Map<string, InputCell> },
    now: number,
  ) {
    super(now);
    this.input = at.input;
    this.args = at.args;
    this.key = at.key;
    this.home = at.home;
    this.home.set(this.key, this);
  }

  free(): void {
    if (this.value === undefined) this.home.delete(this.key);
  }
}

/** A cell whose value is computed from other cells. */
export abstract class Computation extends Cell implements Frame {
  abstract readonly name: string;
  abstract readonly stratum: number;
  readonly args: readonly string[];
  /** The cells that the last run read, without duplicates, in reading order. */
  dependencies: readonly Cell[] = nothing;
  /** The time of the engine's clock at which the result was last verified. */
  verifiedAt = never;
  /** Whether a direct or transitive dependency may have changed since. The readers of a stale computation are stale too. */
  stale = true;
  /** Whether it is currently being verified or run. */
  running = false;

  constructor(args: readonly string[], now: number) {
    super(now);
    this.args = args;
  }

  /** Runs the function once. Rethrows its errors. */
  abstract evaluate(read: Reader): unknown;

  /** Called when it becomes stale. */
  abstract wake(): void;

  get hasRun(): boolean {
    return this.verifiedAt !== never;
  }

  /** Makes the next verification run the function. */
  invalidate(): void {
    this.verifiedAt = never;
    this.stale = true;
  }
}

/** The cached result of a query for one list of arguments. */
export class Memo extends Computation {
  readonly query: AnyQuery;
  value: unknown;
  private readonly key: string;
  private readonly home: Map<string, Memo>;

  constructor(at: { query: AnyQuery; args: readonly string[]; key: string; home: Map<string, Memo> }, now: number) {
    super(at.args, now);
    this.query = at.query;
    this.key = at.key;
    this.home = at.home;
    this.home.set(this.key, this);
  }

  get name(): string {
    return this.query.name;
  }

  get stratum(): number {
    return this.query.stratum;
  }

  evaluate(read: Reader): unknown {
    return this.query.compute(read, ...this.args);
  }

  /** Memos are verified only on demand. */
  wake(): void {}

  free(): void {
    this.home.delete(this.key);
  }
}

/** Whether two results of a query are equal for its readers. */
export function sameResult(query: AnyQuery, before: unknown, after: unknown): boolean {
  return query.equal === undefined ? deepEqual(before, after) : query.equal(before, after);
}

/** A table that present cells contribute to: an index or an emission. */
export interface ContributorTable<Output = unknown> {
  readonly name: string;
  readonly stratum: number;
  /** Contributors whose output may have changed. */
  readonly queue: Contributor<Output>[];
  produce(read: Reader, args: readonly string[]): Iterable<Output>;
}

/** The contribution of one present cell to one table. */
export class Contributor<Output = unknown> extends Computation {
  readonly table: ContributorTable<Output>;
  output: readonly Output[] = [];
  private retired = false;

  constructor(table: ContributorTable<Output>, args: readonly string[], now: number) {
    super(args, now);
    this.table = table;
    table.queue.push(this);
  }

  get name(): string {
    return this.table.name;
  }

  get stratum(): number {
    return this.table.stratum;
  }

  get isRetired(): boolean {
    return this.retired;
  }

  /** Marks the contributor for removal: its cell is gone, and the next `settle` of the table removes the contribution. */
  retire(): void {
    this.retired = true;
    if (this.stale) return;
    this.stale = true;
    this.wake();
  }

  evaluate(read: Reader): readonly Output[] {
    return [...this.table.produce(read, this.args)];
  }

  wake(): void {
    this.table.queue.push(this);
  }

  /** Nothing to remove: only the input cell references it. */
  free(): void {}
}
