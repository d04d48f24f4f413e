import type { Index, Query } from './reader.ts';

/** A computation as its callees see it. */
export interface Frame {
  readonly name: string;
  readonly stratum: number;
  readonly args: readonly string[];
}

/** A query with its types erased. */
export type AnyQuery = Query<readonly string[], unknown>;

/**
 * The call stack of running computations, outermost first. Enforces the law of strata. A violation is a programming error,
 * whatever the data.
 */
export class Calls<F extends Frame = Frame> {
  private readonly frames: F[] = [];

  /** The computation that is reading; `undefined` for callers outside the kernel, which may read everything. */
  get current(): F | undefined {
    return this.frames.at(-1);
  }

  enter(frame: F): void {
    this.frames.push(frame);
  }

  leave(): void {
    this.frames.pop();
  }

  /** Throws unless `query` has the same stratum as the running computation or a lower one. */
  allowQuery(query: AnyQuery): void {
    const caller = this.current;
    if (caller === undefined || query.stratum <= caller.stratum) return;
    throw new Error(
      `query ${query.name} (stratum ${query.stratum}) is read by ${describe(caller)} (stratum ${caller.stratum}): ` +
        'a query may be read from its own or a higher stratum only',
    );
  }

  /** Throws unless `index` has a lower stratum than the running computation. */
  allowIndex(index: Index): void {
    const caller = this.current;
    if (caller === undefined || index.stratum < caller.stratum) return;
    throw new Error(
      `index ${index.name} (stratum ${index.stratum}) is read by ${describe(caller)} (stratum ${caller.stratum}): ` +
        'an index may be read from a higher stratum only',
    );
  }

  /** The error for a computation that reads itself, directly or through others. */
  cycle(frame: F): Error {
    const cycle = this.frames.slice(Math.max(0, this.frames.lastIndexOf(frame)));
    return new Error(`queries read each other in a cycle: ${[...cycle, frame].map(describe).join(' -> ')}`);
  }
}

function describe(frame: Frame): string {
  return `${frame.name}(${frame.args.join(', ')})`;
}
