import type { AnyQuery, Frame } from './calls.ts';
import { fitted } from '../text/fitted.ts';
import { deepEqual } from './equal.ts';
import { few, nothing, type Few } from './few.ts';
import { argsOf } from './key.ts';
import type { Input, Reader } from './reader.ts';

/** Values of `verifiedAt` before the first run, and of contributors whose cell is gone. */
const never = -1;
const retired = -2;
/** Up to this number, readers are kept in an array, which needs a fifth of the memory of a Set. */
const fewReaders = 16;

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
  /** The readers, in the smallest form that holds them: most cells have one reader or few. */
  private readers: Computation | readonly Computation[] | Set<Computation> | undefined;

  constructor(now: number) {
    this.changedAt = now;
  }

  get isRead(): boolean {
    return this.readers !== undefined;
  }

  attach(reader: Computation): void {
    const { readers } = this;
    if (readers === undefined) this.readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else if (isList(readers)) {
      if (!readers.includes(reader))
        // `concat` allocates exactly the room that it needs, a literal with `...` leaves room for more.
        this.readers = readers.length < fewReaders ? readers.concat(reader) : new Set(readers).add(reader);
    } else if (readers !== reader) this.readers = [readers, reader];
  }

  detach(reader: Computation): void {
    const { readers } = this;
    if (readers instanceof Set) {
      readers.delete(reader);
      if (readers.size === 0) this.readers = undefined;
    } else if (isList(readers)) {
      const others = readers.filter((one) => one !== reader);
      this.readers = others.length > 1 ? fitted(others) : others[0];
    } else if (readers === reader) {
      this.readers = undefined;
    }
  }

  pushReaders(stack: Computation[]): void {
    const { readers } = this;
    if (readers === undefined) return;
    if (readers instanceof Set || isList(readers)) for (const reader of readers) stack.push(reader);
    else stack.push(readers);
  }

  /** Removes the cell from its container. Called when the cell has no readers; idempotent. */
  abstract free(): void;
}

/** An input value, or its absence. */
export class InputCell extends Cell {
  readonly input: Input<unknown>;
  /** Identifies the arguments. */
  readonly key: string;
  override height = 0;
  value: unknown;
  /** The contributors that exist while this cell is present. */
  contributors: readonly Contributor[] = nothing;
  private readonly home: Map<string, InputCell>;

  constructor(at: { input: Input<unknown>; key: string; home: Map<string, InputCell> }, now: number) {
    super(now);
    this.input = at.input;
    this.key = at.key;
    this.home = at.home;
    this.home.set(this.key, this);
  }

  get args(): readonly string[] {
    return argsOf(this.key);
  }

  free(): void {
    if (this.value === undefined) this.home.delete(this.key);
  }
}

/** Something that is computed from cells: a result, or a contribution to a table. */
export interface Computation extends Frame {
  /** Identifies the arguments. Keeping these, too, would take as much memory as a cell. */
  readonly key: string;
  /** The cells that the last run read, without duplicates, in reading order. */
  dependencies: Few<Cell>;
  /** The time of the engine's clock at which the result was last verified; negative before the first run. */
  verifiedAt: number;
  /** Whether a direct or transitive dependency may have changed since. The readers of a stale computation are stale too. */
  stale: boolean;
  /** Runs the function once. Rethrows its errors. */
  evaluate(read: Reader): unknown;
  /** Called when it becomes stale. */
  wake(): void;
  /** Adds the computations that read its result. */
  pushReaders(stack: Computation[]): void;
}

/** Whether the function has run since the last `invalidate`. */
export function hasRun({ verifiedAt }: Computation): boolean {
  return verifiedAt >= 0;
}

/** Whether readers are kept in an array. */
function isList(readers: Computation | readonly Computation[] | undefined): readers is readonly Computation[] {
  return Array.isArray(readers);
}

/** The cached results of a query, by the key of their arguments. */
export interface MemoTable {
  readonly query: AnyQuery;
  readonly memos: Map<string, Memo>;
}

/** The cached result of a query for one list of arguments. */
export class Memo extends Cell implements Computation {
  readonly key: string;
  dependencies: Few<Cell> = nothing;
  verifiedAt = never;
  stale = true;
  value: unknown;
  private readonly table: MemoTable;

  constructor(at: { table: MemoTable; key: string }, now: number) {
    super(now);
    this.table = at.table;
    this.key = at.key;
    this.table.memos.set(this.key, this);
  }

  get query(): AnyQuery {
    return this.table.query;
  }

  get args(): readonly string[] {
    return argsOf(this.key);
  }

  get name(): string {
    return this.query.name;
  }

  get stratum(): number {
    return this.query.stratum;
  }

  /** Makes the next verification run the function. */
  invalidate(): void {
    this.verifiedAt = never;
    this.stale = true;
  }

  evaluate(read: Reader): unknown {
    return this.query.compute(read, ...this.args);
  }

  /** Memos are verified only on demand. */
  wake(): void {}

  free(): void {
    this.table.memos.delete(this.key);
  }
}

/** Whether two results of a query are equal for its readers. */
export function sameResult(query: AnyQuery, before: unknown, after: unknown): boolean {
  return query.equal === undefined ? deepEqual(before, after) : query.equal(before, after);
}

/** A table that present cells contribute to: an index or an emission. */
export interface ContributorTable<Output extends object = object> {
  readonly name: string;
  readonly stratum: number;
  /** Contributors whose output may have changed. */
  readonly queue: Contributor<Output>[];
  produce(read: Reader, args: readonly string[]): Iterable<Output>;
}

/** The contribution of one present cell to one table. Nothing reads it, so it is not a cell. */
export class Contributor<Output extends object = object> implements Computation {
  readonly table: ContributorTable<Output>;
  readonly key: string;
  dependencies: Few<Cell> = nothing;
  verifiedAt = never;
  stale = true;
  output: Few<Output> = nothing;

  constructor(table: ContributorTable<Output>, key: string) {
    this.table = table;
    this.key = key;
    table.queue.push(this);
  }

  get args(): readonly string[] {
    return argsOf(this.key);
  }

  get name(): string {
    return this.table.name;
  }

  get stratum(): number {
    return this.table.stratum;
  }

  get isRetired(): boolean {
    return this.verifiedAt === retired;
  }

  /** Marks the contributor for removal: its cell is gone, and the next `settle` of the table removes the contribution. */
  retire(): void {
    this.verifiedAt = retired;
    if (this.stale) return;
    this.stale = true;
    this.wake();
  }

  evaluate(read: Reader): Few<Output> {
    return few(fitted([...this.table.produce(read, this.args)]));
  }

  wake(): void {
    this.table.queue.push(this);
  }

  pushReaders(): void {}
}
