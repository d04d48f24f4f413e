import { type AnyQuery, Calls } from './calls.ts';
import { type Computation, Contributor, type ContributorTable, InputCell, Memo, type MemoTable } from './cells.ts';
import type { Steps } from '../text/steps.ts';
import type { Write } from './declare.ts';
import { EmissionTable } from './emission-table.ts';
import { Engine } from './engine.ts';
import type { Facet } from './entries.ts';
import { deepEqual } from './equal.ts';
import { facetOf, IndexTable } from './index-table.ts';
import { nothing } from './few.ts';
import { keyOf } from './key.ts';
import { LawfulReader, type Resolver } from './lawful-reader.ts';
import type { Emission, Index, Input, Population, Reader } from './reader.ts';

type Table = ContributorTable & { settle(engine: Engine, errors: unknown[]): Steps<void> };

/** All existing cells by declaration and arguments, and the tables that they contribute to. */
export class LiveState implements Resolver {
  readonly read: Reader;
  readonly engine: Engine;
  /** The number of calls of `apply` so far. */
  revision = 0;
  readonly inputs = new Map<Input<unknown>, Map<string, InputCell>>();
  readonly memos = new Map<AnyQuery, MemoTable>();
  readonly emissions = new Map<Emission<unknown>, EmissionTable>();
  private readonly indexes = new Map<Index, IndexTable>();
  /** The index tables in ascending order of stratum. */
  readonly orderedIndexes: readonly IndexTable[];
  private readonly driven = new Map<Input<unknown>, Map<string, Table[]>>();
  private readonly calls = new Calls<Computation>();
  /** The steps that are left of the last `begin`. */
  private underway: Steps<void> | undefined;
  /** The errors of functions that threw since the last `begin`. These contribute nothing until one of their dependencies changes. */
  private errors: unknown[] = [];

  constructor(indexes: readonly Index[], emissions: readonly Emission<unknown>[]) {
    this.read = new LawfulReader(this.calls, this);
    this.engine = new Engine(this.calls, this.read);
    for (const index of indexes) {
      const table = new IndexTable(index);
      this.indexes.set(index, table);
      this.drive(table, index.over);
    }
    for (const emission of emissions) {
      const table = new EmissionTable(emission);
      this.emissions.set(emission, table);
      this.drive(table, emission.over);
    }
    this.orderedIndexes = [...this.indexes.values()].sort((left, right) => left.stratum - right.stratum);
  }

  /** Applies `writes`. Every table is updated by the steps that follow (`proceed`). */
  begin(writes: readonly Write[]): void {
    if (this.calls.current !== undefined)
      throw new Error(`${this.calls.current.name} must not write: computations only read`);
    if (this.underway !== undefined) throw new Error('no writes are possible while others are being applied in steps');
    this.errors = [];
    this.revision++;
    // Results that only outside callers read are not worth updating.
    this.engine.sweep();
    this.underway = this.steps(writes.flatMap((write) => this.write(write)));
  }

  /** Does the next step. Returns whether it is not the last one. */
  proceed(): boolean {
    const steps = this.underway;
    // A step that throws is the last one.
    this.underway = undefined;
    if (steps?.next().done === false) this.underway = steps;
    return this.underway !== undefined;
  }

  /** Does all steps that are left. Returns the errors of functions that threw. */
  finish(): readonly unknown[] {
    while (this.proceed());
    return this.errors;
  }

  private *steps(changed: readonly InputCell[]): Steps<void> {
    yield* this.engine.inputsChanged(changed);
    for (const table of this.orderedIndexes) yield* table.settle(this.engine, this.errors);
    for (const table of this.emissions.values()) yield* table.settle(this.engine, this.errors);
    // All contents change in one moment: a reader of several never sees a mixture.
    for (const table of this.emissions.values()) table.commit(this.errors);
    this.engine.sweep();
  }

  input(input: Input<unknown>, args: readonly string[]): unknown {
    if (this.calls.current === undefined) {
      this.finish();
      return this.findInput(input, keyOf(args))?.value;
    }
    const cell = this.inputCell(input, args);
    this.engine.track(cell);
    return cell.value;
  }

  query(query: AnyQuery, args: readonly string[]): unknown {
    if (this.calls.current === undefined) {
      this.finish();
      this.engine.sweepWhenMany();
    }
    return this.engine.resultOf(this.memo(query, args));
  }

  facet<F extends keyof Facet>(index: Index, bucket: string, facet: F): Facet[F] {
    const table = this.indexTable(index);
    if (this.calls.current === undefined) this.finish();
    else this.engine.track(table.facetCell(bucket, facet, this.engine));
    return facetOf(table.entriesOf(bucket), facet);
  }

  findInput(input: Input<unknown>, key: string): InputCell | undefined {
    return this.inputs.get(input)?.get(key);
  }

  /** The arguments of the cells of an input that have a value. */
  present(input: Input<unknown>): readonly (readonly string[])[] {
    return [...(this.inputs.get(input)?.values() ?? [])].flatMap(({ args, value }) =>
      value === undefined ? [] : [args],
    );
  }

  findMemo(query: AnyQuery, key: string): Memo | undefined {
    return this.memos.get(query)?.memos.get(key);
  }

  /** Throws if the kernel was created without this index. */
  indexTable(index: Index): IndexTable {
    const table = this.indexes.get(index);
    if (table === undefined)
      throw new Error(`index ${index.name} is not part of this kernel: add it to createKernel({ indexes })`);
    return table;
  }

  /** The tables that a present cell with these arguments contributes to. */
  private drivenBy(input: Input<unknown>, args: readonly string[]): readonly Table[] {
    const population = args[0];
    return (population === undefined ? undefined : this.driven.get(input)?.get(population)) ?? [];
  }

  private drive(table: Table, over: Population): void {
    const populations = getOrCreate(this.driven, over.input, newMap<Table[]>);
    for (const population of new Set(over.populations))
      getOrCreate(populations, population, newList<Table>).push(table);
  }

  /** The cell if its value changed, otherwise an empty list. */
  private write({ input, args, value }: Write): InputCell | [] {
    if (value === undefined && this.findInput(input, keyOf(args)) === undefined) return [];
    const cell = this.inputCell(input, args);
    if (deepEqual(cell.value, value)) return [];
    const wasPresent = cell.value !== undefined;
    cell.value = value;
    if (!wasPresent) this.enlist(cell);
    if (value === undefined) this.dismiss(cell);
    return cell;
  }

  private enlist(cell: InputCell): void {
    cell.contributors = this.drivenBy(cell.input, cell.args).map((table) => new Contributor(table, cell.key));
  }

  private dismiss(cell: InputCell): void {
    for (const contributor of cell.contributors) contributor.retire();
    cell.contributors = nothing;
    this.engine.offer(cell);
  }

  private inputCell(input: Input<unknown>, args: readonly string[]): InputCell {
    const home = getOrCreate(this.inputs, input, newMap<InputCell>);
    const key = keyOf(args);
    return home.get(key) ?? new InputCell({ input, key: this.shared(key), home }, this.engine.now);
  }

  private memo(query: AnyQuery, args: readonly string[]): Memo {
    const table = getOrCreate(this.memos, query, () => ({ query, memos: new Map<string, Memo>() }));
    const key = keyOf(args);
    return table.memos.get(key) ?? new Memo({ table, key: this.shared(key) }, this.engine.now);
  }

  /** The string of the running computation if it is equal: most results for an object read others for the same object. */
  private shared(key: string): string {
    const own = this.calls.current?.key;
    return own === key ? own : key;
  }
}

function newMap<V>(): Map<string, V> {
  return new Map();
}

function newList<V>(): V[] {
  return [];
}

/** The value of `key`, created if absent. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
