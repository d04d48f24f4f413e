import { type AnyQuery, Calls, type Frame } from './calls.ts';
import { type Cell, type Computation, InputCell, Memo, sameResult } from './cells.ts';
import type { Write } from './declare.ts';
import type { Entries, Facet } from './entries.ts';
import { deepEqual } from './equal.ts';
import { listed } from './few.ts';
import { FacetCell, facetOf } from './index-table.ts';
import { keyOf } from './key.ts';
import { LawfulReader, type Resolver } from './lawful-reader.ts';
import { getOrCreate, type LiveState } from './live-state.ts';
import { type OverlaidCell, type OverlayFunctions, OverlayIndexes } from './overlay-indexes.ts';
import type { Index, Input, Query, Reader } from './reader.ts';
import type { Steps } from '../text/steps.ts';

/** A live result that differs under an overlay. */
export interface Affected<A extends readonly string[], T> {
  readonly args: A;
  readonly before: () => T;
  readonly after: () => T;
}

/** The state as if some writes had been applied, without writing. Valid until the next `apply` of the kernel. */
export interface Overlay {
  readonly read: Reader;
  /** False once the kernel has applied writes after the overlay was created. Every read throws from then on. */
  readonly isValid: boolean;
  /**
   * Compares the indexes that `query` may read, and yields after each step. Otherwise, the first result that reads one compares it at once,
   * which takes long if the writes affect many contributors. Ends with false when the overlay is out of date.
   */
  indexesInSteps(query: Pick<AnyQuery, 'stratum'>): Steps<boolean>;
  /**
   * The live results of `query` that differ under the overlay, found lazily: stop iterating to stop the work. Many equal
   * results may lie between two different ones. `mayContinue` is called before each step; `false` ends the iteration.
   * Results that the kernel does not keep are not included.
   */
  affected<A extends readonly string[], T>(query: Query<A, T>, mayContinue?: () => boolean): Iterable<Affected<A, T>>;
  /**
   * Like `affected`, but yields `undefined` after each step that finds nothing, so that the caller can do other work between
   * steps.
   */
  affectedInSteps<A extends readonly string[], T>(
    query: Query<A, T>,
    mayContinue?: () => boolean,
  ): Iterable<Affected<A, T> | undefined>;
}

/** A query's result under the overlay. */
class Answer implements Frame {
  readonly query: AnyQuery;
  readonly args: readonly string[];
  running = true;
  value: unknown;
  /** Whether it differs from the live result; true if there is no live result. */
  different = true;

  constructor(query: AnyQuery, args: readonly string[]) {
    this.query = query;
    this.args = args;
  }

  get name(): string {
    return this.query.name;
  }

  get stratum(): number {
    return this.query.stratum;
  }
}

/** The results of one query by its arguments. Most queries have one under an overlay, which is quick to create without a map. */
class Answers {
  private onlyKey: string | undefined;
  private only: Answer | undefined;
  private others: Map<string, Answer> | undefined;

  get(key: string): Answer | undefined {
    return key === this.onlyKey ? this.only : this.others?.get(key);
  }

  /** Adds the result of arguments that have none. */
  add(key: string, answer: Answer): void {
    if (this.onlyKey === undefined) {
      this.onlyKey = key;
      this.only = answer;
      return;
    }
    this.others ??= new Map();
    this.others.set(key, answer);
  }

  delete(key: string): void {
    if (key === this.onlyKey) this.onlyKey = undefined;
    else this.others?.delete(key);
  }
}

/**
 * Reads from the live state wherever the writes have no effect, which is determined on demand: a live result with the same
 * dependencies under the overlay is the same. Everything else is computed and cached here.
 */
export class OverlayState implements Resolver, Overlay, OverlayFunctions {
  readonly read: Reader;
  private readonly live: LiveState;
  private readonly revision: number;
  private readonly calls = new Calls();
  private readonly cells = new Map<Input<unknown>, Map<string, OverlaidCell>>();
  private overlaid: readonly OverlaidCell[] | undefined;
  /** By the number of the query; sparse. */
  private readonly answers: (Answers | undefined)[] = [];
  private readonly indexes: OverlayIndexes;

  constructor(live: LiveState, writes: readonly Write[]) {
    this.live = live;
    this.revision = live.revision;
    this.read = new LawfulReader(this.calls, this);
    for (const { input, args, value } of writes) {
      const key = keyOf(args);
      const cells = getOrCreate(this.cells, input, () => new Map<string, OverlaidCell>());
      if (deepEqual(live.findInput(input, key)?.value, value)) cells.delete(key);
      else cells.set(key, { input, args, value });
    }
    this.indexes = new OverlayIndexes(live, this);
  }

  input(input: Input<unknown>, args: readonly string[]): unknown {
    this.assertValid();
    const key = keyOf(args);
    const overlaid = this.cells.get(input)?.get(key);
    return overlaid === undefined ? this.live.findInput(input, key)?.value : overlaid.value;
  }

  query(query: AnyQuery, args: readonly string[]): unknown {
    this.assertValid();
    return this.answer(query, args).value;
  }

  facet<F extends keyof Facet>(index: Index, bucket: string, facet: F): Facet[F] {
    this.assertValid();
    return facetOf(this.entriesOf(index, bucket), facet);
  }

  *indexesInSteps({ stratum }: Pick<AnyQuery, 'stratum'>): Steps<boolean> {
    for (const _ of this.indexes.comparingAll(stratum - 1)) {
      yield;
      if (!this.isValid) return false;
    }
    return true;
  }

  *affected<A extends readonly string[], T>(query: Query<A, T>, mayContinue = () => true): Generator<Affected<A, T>> {
    for (const affected of this.affectedInSteps(query, mayContinue)) if (affected !== undefined) yield affected;
  }

  *affectedInSteps<A extends readonly string[], T>(
    query: Query<A, T>,
    mayContinue = () => true,
  ): Generator<Affected<A, T> | undefined> {
    for (const memo of this.indexes.reachedMemos(query, mayContinue)) {
      this.assertValid();
      yield memo === undefined ? undefined : this.affectedBy(query, memo);
    }
  }

  private affectedBy<A extends readonly string[], T>(query: Query<A, T>, memo: Memo): Affected<A, T> | undefined {
    const answer = this.answer(query, memo.args);
    if (!answer.different) return undefined;
    const before = memo.value;
    return { args: memo.args as A, before: () => before as T, after: () => answer.value as T };
  }

  get isValid(): boolean {
    return this.live.revision === this.revision;
  }

  get overlaidCells(): readonly OverlaidCell[] {
    this.overlaid ??= [...this.cells.values()].flatMap((cells) => [...cells.values()]);
    return this.overlaid;
  }

  mayBeReached(computation: Computation): boolean {
    try {
      return listed(computation.dependencies).some((cell) => this.isDifferent(cell));
    } catch {
      // Undecided: the function runs, gets the error again and may handle it.
      return true;
    }
  }

  mayDiffer(memo: Memo): boolean {
    try {
      return this.answer(memo.query, memo.args).different;
    } catch {
      return true;
    }
  }

  run<T>(frame: Frame, compute: (read: Reader) => T): T {
    this.calls.enter(frame);
    try {
      return compute(this.read);
    } finally {
      this.calls.leave();
    }
  }

  private entriesOf(index: Index, bucket: string): Entries | undefined {
    return this.indexes.changedEntries(index, bucket) ?? this.live.indexTable(index).entriesOf(bucket);
  }

  private isDifferent(cell: Cell): boolean {
    if (cell instanceof Memo) return this.answer(cell.query, cell.args).different;
    if (cell instanceof InputCell) return this.cells.get(cell.input)?.has(cell.key) === true;
    if (cell instanceof FacetCell)
      return this.indexes.changedEntries(cell.index, cell.bucketName)?.differs(cell.facet) === true;
    return false;
  }

  private answer(query: AnyQuery, args: readonly string[]): Answer {
    const key = keyOf(args);
    const answers = (this.answers[query.number] ??= new Answers());
    const known = answers.get(key);
    if (known?.running === true) throw this.calls.cycle(known);
    if (known !== undefined) return known;
    const answer = new Answer(query, args);
    answers.add(key, answer);
    try {
      this.resolve(answer, this.live.findMemo(query, key));
    } catch (error) {
      answers.delete(key);
      throw error;
    }
    answer.running = false;
    return answer;
  }

  private resolve(answer: Answer, memo: Memo | undefined): void {
    const isLive = memo !== undefined && !memo.stale;
    if (isLive && !this.mayBeReached(memo)) {
      answer.value = memo.value;
      answer.different = false;
      return;
    }
    answer.value = this.run(answer, (read) => answer.query.compute(read, ...answer.args));
    if (isLive && sameResult(answer.query, memo.value, answer.value)) {
      answer.value = memo.value;
      answer.different = false;
    }
  }

  private assertValid(): void {
    if (!this.isValid) {
      throw new Error('the overlay is out of date: the kernel has applied writes since it was made');
    }
  }
}
