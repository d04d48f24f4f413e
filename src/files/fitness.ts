import type { Path } from '../core/resources/path.ts';

/** Why and where a value is not JSON of a reasonable size. */
export interface Unfit {
  readonly path: Path;
  readonly message: string;
}

export const maximumDepth = 100;
const maximumValues = 1_000_000;
/** The limit of a request to the API server. Longer texts exceed the stack of regular expressions. */
export const longestScalar = 3 * 1024 * 1024;
export const tooLong = `a text of more than ${longestScalar} characters is longer than the API server accepts; shorten it`;

interface Extent {
  readonly values: number;
  readonly depth: number;
}

/**
 * Finds values that YAML allows and JSON does not: infinite numbers, and objects that aliases make cyclic, or huge when written out.
 * Shared parts are measured once, so the time is linear in the length of the text.
 */
export function findUnfit(root: unknown): Unfit | undefined {
  const examination = new Examination();
  return examination.extentOf(root) === undefined ? examination.unfit : undefined;
}

/** Whether all numbers are finite. Without aliases nothing else can be unfit, because the parser limits the depth. */
export function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (!isFiniteThroughout(member)) return false;
  }
  return true;
}

function infinite(value: number): string {
  return `invalid number ${value}: use a finite number, or quote it as a string`;
}

class Examination {
  unfit: Unfit | undefined;
  private readonly known = new Map<object, Extent>();
  private readonly open = new Set<object>();
  private readonly path: (string | number)[] = [];

  /** `undefined` once an unfit value was found. */
  extentOf(value: unknown): Extent | undefined {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return this.reject(infinite(value));
    }
    if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
    if (this.open.has(value)) return this.reject('an alias refers to the object that contains it; write the value out');
    const extent = this.known.get(value) ?? this.measure(value);
    if (extent === undefined) return undefined;
    this.known.set(value, extent);
    return this.bounded(extent);
  }

  private measure(container: object): Extent | undefined {
    this.open.add(container);
    let values = 1;
    let depth = 0;
    const entries = Array.isArray(container) ? container.entries() : Object.entries(container);
    for (const [part, member] of entries) {
      this.path.push(part);
      const extent = this.extentOf(member);
      if (extent === undefined) return undefined;
      this.path.pop();
      values += extent.values;
      depth = Math.max(depth, extent.depth);
    }
    this.open.delete(container);
    return { values, depth: depth + 1 };
  }

  private bounded(extent: Extent): Extent | undefined {
    if (extent.values > maximumValues) {
      return this.reject(`the expanded document has more than ${maximumValues} values; use fewer aliases`);
    }
    if (this.path.length + extent.depth > maximumDepth) {
      return this.reject(`the expanded document is nested deeper than ${maximumDepth} levels`);
    }
    return extent;
  }

  private reject(message: string): undefined {
    this.unfit ??= { path: [...this.path], message };
  }
}
