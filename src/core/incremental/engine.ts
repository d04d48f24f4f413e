import { Agenda } from './agenda.ts';
import type { Calls } from './calls.ts';
import { type Cell, type Computation, type Contributor, hasRun, Memo, sameResult } from './cells.ts';
import type { Steps } from '../text/steps.ts';
import { few, listed, nothing } from './few.ts';
import type { Reader } from './reader.ts';

/** Maximum number of cells waiting for a sweep: about the results for a hundred objects. */
const maxOrphans = 256;

/**
 * Keeps computations up to date. Computations between a change and the indexes run immediately, in ascending order of
 * height, as long as results change. All other computations that may depend on the change are marked as stale. A stale
 * computation is verified on demand: first its dependencies are verified in reading order, and its function runs again only
 * if one of them changed. A result that equals the previous one does not affect its readers.
 */
export class Engine {
  /** Orders changes and verifications. Advances whenever cells may change after a verification. */
  private clock = 0;
  marks = 0;
  recomputations = 0;
  cutOffs = 0;
  private readonly calls: Calls<Computation>;
  private readonly read: Reader;
  /**
   * The cells that the running computations have read so far. Each computation owns the tail from its start. If a
   * computation throws, its part passes to its caller, which then depends on everything that led to the error.
   */
  private readonly reads: Cell[] = [];
  /** Cells that may have no readers. */
  private readonly orphans: Cell[] = [];
  private readonly marking: Computation[] = [];
  /** Results that are being verified or computed. */
  private readonly running = new Set<Memo>();
  private lastStamp = 0;

  constructor(calls: Calls<Computation>, read: Reader) {
    this.calls = calls;
    this.read = read;
  }

  /** Records that the running computation reads `cell`. */
  track(cell: Cell): void {
    this.reads.push(cell);
  }

  /** The up-to-date result of `memo`. Rethrows the error of its function; no result is cached in that case. */
  resultOf(memo: Memo): unknown {
    this.refresh(memo);
    if (this.calls.current === undefined) this.orphans.push(memo);
    else this.reads.push(memo);
    return memo.value;
  }

  /** The current time of the clock. */
  get now(): number {
    return this.clock;
  }

  /**
   * Records changes of inputs. Results with only queries between them and the inputs are updated immediately, in ascending
   * order of height. If such a result stays equal, its readers are not even marked, however many there are. Each result is a step.
   */
  *inputsChanged(cells: readonly Cell[]): Steps<void> {
    this.clock++;
    const agenda = new Agenda();
    for (const cell of cells) {
      cell.changedAt = this.clock;
      this.wakeReaders(cell, agenda);
    }
    for (const memo of agenda) {
      this.settle(memo, agenda);
      yield;
    }
    this.clock++;
  }

  /** Records a change of `cell` and marks its direct and transitive readers as stale. */
  changed(cell: Cell): void {
    cell.changedAt = this.clock;
    this.markReaders(cell);
  }

  /** Updates a contributor. Rethrows the error of its function; it then contributes nothing. */
  update<Output extends object>(contributor: Contributor<Output>): void {
    contributor.stale = false;
    if (contributor.isRetired) {
      this.release(contributor);
      contributor.output = nothing;
    } else if (this.isOutdated(contributor)) {
      this.rerun(contributor);
    } else {
      contributor.verifiedAt = this.clock;
    }
  }

  /** Sweeps once many results were read from outside the kernel: such callers do not say when they stop using a result. */
  sweepWhenMany(): void {
    if (this.orphans.length > maxOrphans) this.sweep();
  }

  /** Queues a cell without readers for disposal. The next sweep frees it if it still has none. */
  offer(cell: Cell): void {
    if (!cell.isRead) this.orphans.push(cell);
  }

  /** Frees all cells without readers, including those that lose their last reader thereby. */
  sweep(): void {
    for (let cell = this.orphans.pop(); cell !== undefined; cell = this.orphans.pop()) {
      if (cell.isRead) continue;
      cell.free();
      if (cell instanceof Memo) this.release(cell);
    }
  }

  /** Adds the readers of `cell` to the agenda, or marks them as stale if that is not possible. */
  private wakeReaders(cell: Cell, agenda: Agenda): void {
    const readers: Computation[] = [];
    cell.pushReaders(readers);
    for (const reader of readers) {
      if (!(reader instanceof Memo && agenda.add(reader))) this.mark(reader);
    }
  }

  /** Updates a result before anything above it. */
  private settle(memo: Memo, agenda: Agenda): void {
    if (memo.stale) return;
    if (!memo.isRead) return this.mark(memo);
    const { changedAt } = memo;
    // An earlier run may have read this result before it was marked: the change must have a later time than that run.
    this.clock++;
    memo.stale = true;
    if (!this.canRefresh(memo)) this.markReaders(memo);
    // Its new dependencies may not be settled yet.
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

  private markReaders(cell: Pick<Cell, 'pushReaders'>): void {
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
    if (!memo.stale) return;
    if (this.running.has(memo)) throw this.calls.cycle(memo);
    this.running.add(memo);
    try {
      if (this.isOutdated(memo)) this.recompute(memo);
      memo.verifiedAt = this.clock;
      memo.stale = false;
    } finally {
      this.running.delete(memo);
    }
  }

  private isOutdated(computation: Computation): boolean {
    if (!hasRun(computation)) return true;
    for (const dependency of listed(computation.dependencies)) {
      if (dependency instanceof Memo && dependency.stale && !this.canRefresh(dependency)) return true;
      if (dependency.changedAt > computation.verifiedAt) return true;
    }
    return false;
  }

  /** Returns false on an error, so that the reader runs, gets the error again and may handle it. */
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
      unchanged = hasRun(memo) && sameResult(memo.query, memo.value, value);
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

  private rerun<Output extends object>(contributor: Contributor<Output>): void {
    const start = this.reads.length;
    contributor.output = nothing;
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

  /** Makes the cells read since `start` the dependencies of `computation`. */
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
    if (computation instanceof Memo) computation.height = height + 1;
    const before = listed(computation.dependencies);
    computation.dependencies = few(this.reads.slice(start, end));
    this.reads.length = start;
    for (const cell of before) {
      if (cell.stamp !== stamp) this.leave(computation, cell);
    }
  }

  private release(computation: Computation): void {
    const before = listed(computation.dependencies);
    computation.dependencies = nothing;
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
