import type { Write } from './declare.ts';
import type { EmissionChange, EmissionTable } from './emission-table.ts';
import { LiveState } from './live-state.ts';
import { type Overlay, OverlayState } from './overlay.ts';
import type { Emission, Index, Reader } from './reader.ts';

/** What one `apply` changed for the outside. */
export interface Delta {
  /** Counts the calls of `apply`. */
  readonly revision: number;
  /** Which keys of an emission appeared, changed or went away. Throws for an emission that is not part of the kernel. */
  of<T>(emission: Emission<T>): EmissionChange<T>;
}

/** How much there is and how much was done; for metrics and tests. */
export interface Statistics {
  /** All of the following kinds together; 0 for an empty kernel. */
  readonly nodes: number;
  /** Input cells, those that are absent but were read included. */
  readonly cells: number;
  /** Remembered results of queries. */
  readonly queries: number;
  /** Present cells times the indexes and emissions over them. */
  readonly contributors: number;
  /** Buckets of indexes, those that are empty but were read included. */
  readonly buckets: number;
  /** How often something was marked as perhaps outdated, to be verified when somebody asks. */
  readonly marks: number;
  /** How often a function of a query, index or emission ran since the kernel was created. */
  readonly recomputations: number;
  /** How often a query that ran again gave an equal result, and so woke nobody. */
  readonly cutOffs: number;
}

/** Everything that follows from what the outside wrote, kept up to date change by change. */
export interface Kernel {
  /**
   * Reads from outside, whatever the stratum. Of results that nothing else reads, some of the last are remembered until
   * the next `apply`.
   */
  readonly read: Reader;
  /**
   * Applies writes as one transaction (of several to one cell the last counts). If functions throw, which is a
   * programming error, all else is applied, what threw contributes nothing until something that it read changes, and
   * then the error is rethrown (several as an AggregateError); the changes are part of the next delta.
   */
  apply(writes: readonly Write[]): Delta;
  /** The whole content of an emission by key; a live view, not to be kept across `apply`. */
  emitted<T>(emission: Emission<T>): ReadonlyMap<string, T>;
  /** The state as if `writes` had been applied. Costs nothing until it is read. */
  overlay(writes: readonly Write[]): Overlay;
  /** Counts for metrics and for tests of bounds. */
  statistics(): Statistics;
}

/** The declarations that a kernel keeps content for. */
export interface KernelDeclarations {
  readonly indexes: readonly Index[];
  readonly emissions: readonly Emission<unknown>[];
}

/** An empty kernel. Inputs and queries need no registration. */
export function createKernel({ indexes, emissions }: KernelDeclarations): Kernel {
  const live = new LiveState(indexes, emissions);
  return {
    read: live.read,
    apply(writes) {
      rethrow(live.apply(writes));
      return takeDelta(live);
    },
    emitted: <T>(emission: Emission<T>) => emissionTable(live, emission).content as ReadonlyMap<string, T>,
    overlay: (writes) => new OverlayState(live, writes),
    statistics: () => statistics(live),
  };
}

function rethrow(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} computations failed, the first with: ${String(errors[0])}`);
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
    of: <T>(emission: Emission<T>) => (changes.get(emissionTable(live, emission).emission) ?? noChange) as EmissionChange<T>,
  };
}

const noChange: EmissionChange<unknown> = { upserted: new Map(), removed: new Set() };

function emissionTable(live: LiveState, emission: Emission<unknown>): EmissionTable {
  const table = live.emissions.get(emission);
  if (table === undefined) throw new Error(`emission ${emission.name} is not part of this kernel: add it to createKernel({ emissions })`);
  return table;
}

function statistics(live: LiveState): Statistics {
  let contributors = 0;
  for (const cells of live.inputs.values()) {
    for (const cell of cells.values()) contributors += cell.contributors.length;
  }
  const cells = totalSize(live.inputs.values());
  const queries = totalSize(live.memos.values());
  const buckets = live.orderedIndexes.reduce((sum, table) => sum + table.bucketCount, 0);
  const { marks, recomputations, cutOffs } = live.engine;
  return { nodes: cells + queries + contributors + buckets, cells, queries, contributors, buckets, marks, recomputations, cutOffs };
}

function totalSize(maps: Iterable<ReadonlyMap<string, unknown>>): number {
  let total = 0;
  for (const map of maps) total += map.size;
  return total;
}
