import { Agenda } from './agenda.ts';
import type { Calls } from './calls.ts';
import { type Cell, type Computation, type Contributor, Memo, sameResult } from './cells.ts';
import type { Reader } from './reader.ts';

/** So many cells may wait for a sweep: the results for about a hundred objects. */
const mostOrphans = 256;

/**
 * Brings computations up to date. What lies between a change and the indexes is run at once, from the inputs upwards, as
 * far as results really change. Everything else that may depend on it is marked as stale; a stale computation is
 * verified when asked for: what it read is verified first, in order of reading, and only if something of it really
 * changed the function runs again. A result equal to its predecessor leaves readers as they are.
 */
export class Engine {
  /** Orders changes and verifications; goes on whenever cells may change after something was verified. */
  private clock = 0;
  marks = 0;
  recomputations = 0;
  cutOffs = 0;
  private readonly calls: Calls;
  private readonly read: Reader;
  /**
   * What the running computations have read so far; each owns the tail from where it began. A computation that
   * throws leaves its part to its caller, which then depends on everything that led to the error.
   */
  private readonly reads: Cell[] = [];
  /** Cells that perhaps nobody reads any more. */
  private readonly orphans: Cell[] = [];
  private readonly marking: Computation[] = [];
  private lastStamp = 0;

  constructor(calls: Calls, read: Reader) {
    this.calls = calls;
    this.read = read;
  }

  /** Remembers that the running computation reads `cell`. */
  track(cell: Cell): void {
    this.reads.push(cell);
  }

  /** The up-to-date result of `memo`. Throws what its function throws; then nothing is remembered. */
  resultOf(memo: Memo): unknown {
    this.refresh(memo);
    if (this.calls.current === undefined) this.orphans.push(memo);
    else this.reads.push(memo);
    return memo.value;
  }

  /** The time of what happens now. */
  get now(): number {
    return this.clock;
  }

  /**
   * Starts a change of some inputs. Results with nothing but queries between them and the inputs are brought up to date
   * at once, the lowest first: one that stays equal spares its readers even the mark, however many they are.
   */
  inputsChanged(cells: readonly Cell[]): void {
    this.clock++;
    const agenda = new Agenda();
    for (const cell of cells) {
      cell.changedAt = this.clock;
      this.wakeReaders(cell, agenda);
    }
    for (const memo of agenda) this.settle(memo, agenda);
    this.clock++;
  }

  /** Marks everything that read `cell`, directly or not, as stale. The cell itself has changed. */
  changed(cell: Cell): void {
    cell.changedAt = this.clock;
    this.markReaders(cell);
  }

  /** Brings a contributor up to date. Throws what its function throws; then it contributes nothing. */
  update<Output>(contributor: Contributor<Output>): void {
    contributor.stale = false;
    if (contributor.isRetired) {
      this.release(contributor);
      contributor.output = [];
    } else if (this.isOutdated(contributor)) {
      this.rerun(contributor);
    } else {
      contributor.verifiedAt = this.clock;
    }
  }

  /** Disposes of what was read from outside as soon as that is much: nobody tells when the outside has done with it. */
  sweepWhenMany(): void {
    if (this.orphans.length > mostOrphans) this.sweep();
  }

  /** Offers a cell for disposal: it goes with the next sweep if nobody reads it by then. */
  offer(cell: Cell): void {
    if (!cell.isRead) this.orphans.push(cell);
  }

  /** Disposes of all that nobody reads, and of what only that had read. */
  sweep(): void {
    for (let cell = this.orphans.pop(); cell !== undefined; cell = this.orphans.pop()) {
      if (cell.isRead) continue;
      cell.free();
      if (cell instanceof Memo) this.release(cell);
    }
  }

  /** Puts what reads `cell` on the agenda, or marks it where that cannot be. */
  private wakeReaders(cell: Cell, agenda: Agenda): void {
    const readers: Computation[] = [];
    cell.pushReaders(readers);
    for (const reader of readers) {
      if (!(reader instanceof Memo && agenda.add(reader))) this.mark(reader);
    }
  }

  /** Brings a result up to date before anything above it. */
  private settle(memo: Memo, agenda: Agenda): void {
    if (memo.stale) return;
    if (!memo.isRead) return this.mark(memo);
    const { changedAt } = memo;
    // An earlier run may have read this result before it was marked: its change must look newer than that run.
    this.clock++;
    memo.stale = true;
    if (!this.canRefresh(memo)) this.markReaders(memo);
    // What it came to read may not be settled yet.
    else if (agenda.isAhead(memo)) this.mark(memo);
    else if (memo.changedAt !== changedAt) this.wakeReaders(memo, agenda);
  }

  private mark(computation: Computation): void {
    if (computation.stale) return;
    this.marks++;
    computation.stale = true;
    computation.wake();
    this.markReaders(computation);
  }

  private markReaders(cell: Cell): void {
    const stack = this.marking;
    cell.pushReaders(stack);
    for (let reader = stack.pop(); reader !== undefined; reader = stack.pop()) {
      if (reader.stale) continue;
      this.marks++;
      reader.stale = true;
      reader.wake();
      reader.pushReaders(stack);
    }
  }

  private refresh(memo: Memo): void {
    if (memo.running) throw this.calls.cycle(memo);
    if (!memo.stale) return;
    memo.running = true;
    try {
      if (this.isOutdated(memo)) this.recompute(memo);
      memo.verifiedAt = this.clock;
      memo.stale = false;
    } finally {
      memo.running = false;
    }
  }

  private isOutdated(computation: Computation): boolean {
    if (!computation.hasRun) return true;
    for (const dependency of computation.dependencies) {
      if (dependency instanceof Memo && dependency.stale && !this.canRefresh(dependency)) return true;
      if (dependency.changedAt > computation.verifiedAt) return true;
    }
    return false;
  }

  /** An error while verifying is no verdict yet: the reader runs, meets it again and may handle it. */
  private canRefresh(memo: Memo): boolean {
    const start = this.reads.length;
    try {
      this.refresh(memo);
      return true;
    } catch {
      this.abandonReads(start);
      return false;
    }
  }

  private recompute(memo: Memo): void {
    const start = this.reads.length;
    let unchanged: boolean;
    let value: unknown;
    try {
      value = this.evaluate(memo);
      unchanged = memo.hasRun && sameResult(memo.query, memo.value, value);
    } catch (error) {
      memo.invalidate();
      memo.value = undefined;
      this.release(memo);
      this.offer(memo);
      if (this.calls.current === undefined) this.abandonReads(start);
      throw error;
    }
    this.commit(memo, start);
    if (unchanged) {
      this.cutOffs++;
    } else {
      memo.value = value;
      memo.changedAt = this.clock;
    }
  }

  private rerun<Output>(contributor: Contributor<Output>): void {
    const start = this.reads.length;
    contributor.output = [];
    try {
      contributor.output = this.evaluate(contributor);
    } finally {
      this.commit(contributor, start);
      contributor.verifiedAt = this.clock;
    }
  }

  private evaluate<C extends Computation>(computation: C): ReturnType<C['evaluate']> {
    this.recomputations++;
    this.calls.enter(computation);
    try {
      return computation.evaluate(this.read) as ReturnType<C['evaluate']>;
    } finally {
      this.calls.leave();
    }
  }

  /** Makes what was read since `start` the dependencies of `computation`. */
  private commit(computation: Computation, start: number): void {
    const stamp = ++this.lastStamp;
    let end = start;
    let height = 0;
    for (let position = start; position < this.reads.length; position++) {
      const cell = this.reads[position];
      if (cell === undefined || cell.stamp === stamp) continue;
      cell.stamp = stamp;
      cell.attach(computation);
      this.reads[end++] = cell;
      height = Math.max(height, cell.height);
    }
    computation.height = height + 1;
    const before = computation.dependencies;
    computation.dependencies = this.reads.slice(start, end);
    this.reads.length = start;
    for (const cell of before) {
      if (cell.stamp !== stamp) this.leave(computation, cell);
    }
  }

  private release(computation: Computation): void {
    const before = computation.dependencies;
    computation.dependencies = [];
    for (const cell of before) this.leave(computation, cell);
  }

  private leave(reader: Computation, cell: Cell): void {
    cell.detach(reader);
    this.offer(cell);
  }

  private abandonReads(start: number): void {
    for (let position = start; position < this.reads.length; position++) {
      const cell = this.reads[position];
      if (cell !== undefined) this.offer(cell);
    }
    this.reads.length = start;
  }
}
