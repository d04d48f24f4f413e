import type { AnyQuery, Frame } from './calls.ts';
import { deepEqual } from './equal.ts';
import type { Input, Reader } from './reader.ts';

const never = -1;
const nothing: readonly Cell[] = [];

/** The height of what an index lies below, and of all that is above that. */
export const aboveIndex = 2 ** 28;

/** Anything that a computation can read. Knows who read it. */
export abstract class Cell {
  /** When, by the engine's clock, the value last became different. */
  changedAt: number;
  /** How many queries it is above the inputs, as far as known; at least `aboveIndex` where an index is in between. */
  height = aboveIndex;
  /** Set by whoever walks over cells, to recognise those already seen; see `Engine`. */
  stamp = 0;
  /** Most cells have one reader or none, so that a Set for each would be most of the memory. */
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

  /** Removes the cell from where it is found. Called when nobody reads it; may be called twice. */
  abstract free(): void;
}

/** What the outside wrote, or the absence of it. */
export class InputCell extends Cell {
  readonly input: Input<unknown>;
  readonly args: readonly string[];
  override height = 0;
  value: unknown;
  /** Who is driven by the presence of this cell. */
  contributors: readonly Contributor[] = [];
  readonly key: string;
  private readonly home: Map<string, InputCell>;

  constructor(at: { input: Input<unknown>; args: readonly string[]; key: string; home: Map<string, InputCell> }, now: number) {
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

/** Something that reads. */
export abstract class Computation extends Cell implements Frame {
  abstract readonly name: string;
  abstract readonly stratum: number;
  readonly args: readonly string[];
  /** What the last run read, each once, in order of reading. */
  dependencies: readonly Cell[] = nothing;
  /** When, by the engine's clock, the result was last known to be right. */
  verifiedAt = never;
  /** Whether something that was read, directly or not, may have changed since. Then the readers are stale too. */
  stale = true;
  /** Whether it is being verified or run right now. */
  running = false;

  constructor(args: readonly string[], now: number) {
    super(now);
    this.args = args;
  }

  /** Runs the function itself, once. May throw what the function throws. */
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

/** The remembered result of a query for some arguments. */
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

  /** Verified only when somebody asks. */
  wake(): void {}

  free(): void {
    this.home.delete(this.key);
  }
}

/** Whether two results of a query are the same to its readers. */
export function sameResult(query: AnyQuery, before: unknown, after: unknown): boolean {
  return query.equal === undefined ? deepEqual(before, after) : query.equal(before, after);
}

/** A table that present cells contribute to: an index or an emission. */
export interface ContributorTable<Output = unknown> {
  readonly name: string;
  readonly stratum: number;
  /** Contributors that may have something else to say. */
  readonly queue: Contributor<Output>[];
  produce(read: Reader, args: readonly string[]): Iterable<Output>;
}

/** What one present cell contributes to one table. */
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

  /** The cell is gone: the table takes the contribution back when it is next settled. */
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

  /** Found through its cell only. */
  free(): void {}
}
