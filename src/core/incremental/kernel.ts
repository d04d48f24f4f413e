import type { Steps } from '../text/steps.ts';
import type { Write } from './declare.ts';
import type { EmissionChange, EmissionTable } from './emission-table.ts';
import { LiveState } from './live-state.ts';
import { type Overlay, OverlayState } from './overlay.ts';
import type { Emission, Index, Input, Reader } from './reader.ts';

/** The changes of the emissions by one `apply`. */
export interface Delta {
  /** The number of calls of `apply` so far. */
  readonly revision: number;
  /** The keys of an emission that were added, changed or removed. Throws for an emission that is not part of the kernel. */
  of<T>(emission: Emission<T>): EmissionChange<T>;
}

/** Sizes and counters, for metrics and tests. */
export interface Statistics {
  /** The sum of cells, queries, contributors and buckets; 0 for an empty kernel. */
  readonly nodes: number;
  /** Input cells, including absent ones that were read. */
  readonly cells: number;
  /** Cached results of queries. */
  readonly queries: number;
  /** Pairs of a present cell and an index or emission over it. */
  readonly contributors: number;
  /** Buckets of indexes, including empty ones that were read. */
  readonly buckets: number;
  /** How often a computation was marked as stale, to be verified on demand. */
  readonly marks: number;
  /** How often a function of a query, index or emission ran since the kernel was created. */
  readonly recomputations: number;
  /** How often a query ran again and gave an equal result, so that its readers stayed valid. */
  readonly cutOffs: number;
}

/** All results derived from the inputs, updated incrementally. */
export interface Kernel {
  /**
   * Reads from outside the kernel, without restriction by stratum. The most recent results that no computation reads stay
   * cached until the next `apply`.
   */
  readonly read: Reader;
  /**
   * Applies writes as one transaction. The last of several writes to one cell wins. If functions throw, which is a
   * programming error, everything else is applied and the error is rethrown afterwards (several as an AggregateError). A
   * function that threw contributes nothing until one of its dependencies changes. The changes are part of the next delta.
   */
  apply(writes: readonly Write[]): Delta;
  /**
   * Like `apply`, in steps. The first step writes the inputs, and the last one changes the contents of all emissions. A read from outside in
   * between does all steps that are left. Throws if other writes are being applied.
   */
  applyInSteps(writes: readonly Write[]): Steps<Delta>;
  /** The whole content of an emission by key; a live view, valid until the next `apply`. */
  emitted<T>(emission: Emission<T>): ReadonlyMap<string, T>;
  /** The arguments of all cells of an input that have a value. Linear in their number. */
  present(input: Input<unknown>): readonly (readonly string[])[];
  /** The state as if `writes` had been applied. Evaluated lazily. */
  overlay(writes: readonly Write[]): Overlay;
  /** Sizes and counters, for metrics and tests of limits. */
  statistics(): Statistics;
}

/** The declarations whose content a kernel maintains. */
export interface KernelDeclarations {
  readonly indexes: readonly Index[];
  readonly emissions: readonly Emission<unknown>[];
}

/** Creates an empty kernel. Inputs and queries need no registration. */
export function createKernel({ indexes, emissions }: KernelDeclarations): Kernel {
  const live = new LiveState(indexes, emissions);
  return {
    read: live.read,
    apply(writes) {
      live.begin(writes);
      return conclude(live);
    },
    *applyInSteps(writes) {
      live.begin(writes);
      while (live.proceed()) yield;
      return conclude(live);
    },
    emitted: <T>(emission: Emission<T>) => emissionTable(live, emission).content as ReadonlyMap<string, T>,
    present: (input) => live.present(input),
    overlay(writes) {
      live.finish();
      return new OverlayState(live, writes);
    },
    statistics: () => statistics(live),
  };
}

/** Does all steps that are left, and rethrows the errors of functions. */
function conclude(live: LiveState): Delta {
  rethrow(live.finish());
  return takeDelta(live);
}

function rethrow(errors: readonly unknown[]): void {
  if (errors.length > 1)
    throw new AggregateError(errors, `${errors.length} computations failed, the first with: ${String(errors[0])}`);
  if (errors.length === 1) throw errors[0];
}

function takeDelta(live: LiveState): Delta {
  const changes = new Map<Emission<unknown>, EmissionChange<unknown>>();
  for (const table of live.emissions.values()) {
    const change = table.take();
    if (change !== undefined) changes.set(table.emission, change);
  }
  return {
    revision: live.revision,
    of: <T>(emission: Emission<T>) =>
      (changes.get(emissionTable(live, emission).emission) ?? noChange) as EmissionChange<T>,
  };
}

const noChange: EmissionChange<unknown> = { upserted: new Map(), removed: new Set() };

function emissionTable(live: LiveState, emission: Emission<unknown>): EmissionTable {
  const table = live.emissions.get(emission);
  if (table === undefined)
    throw new Error(`emission ${emission.name} is not part of this kernel: add it to createKernel({ emissions })`);
  return table;
}

function statistics(live: LiveState): Statistics {
  let contributors = 0;
  for (const cells of live.inputs.values()) {
    for (const cell of cells.values()) contributors += cell.contributors.length;
  }
  const cells = totalSize(live.inputs.values());
  const queries = totalSize([...live.memos.values()].map(({ memos }) => memos));
  const buckets = live.orderedIndexes.reduce((sum, table) => sum + table.bucketCount, 0);
  const { marks, recomputations, cutOffs } = live.engine;
  return {
    nodes: cells + queries + contributors + buckets,
    cells,
    queries,
    contributors,
    buckets,
    marks,
    recomputations,
    cutOffs,
  };
}

function totalSize(maps: Iterable<ReadonlyMap<string, unknown>>): number {
  let total = 0;
  for (const map of maps) total += map.size;
  return total;
}
