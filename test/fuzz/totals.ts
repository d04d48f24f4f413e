/** What many cases came to. */
export interface Totals {
  readonly objects: number;
  readonly bytes: number;
  readonly cases: number;
  readonly milliseconds: number;
  /** The slowest cases, slowest first. */
  readonly slowest: readonly Timed[];
  /** Cases that took longer than their size allows, several times. */
  readonly late: readonly (Timed & { readonly limit: number })[];
  /** Errors, those from one place once. */
  readonly failures: readonly Failure[];
}

export interface Timed {
  readonly number: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

export interface Failure {
  /** The first case that failed so. */
  readonly number: number;
  readonly count: number;
  readonly error: string;
  /** The same for errors from one place. */
  readonly place: string;
}

export const noTotals: Totals = {
  objects: 0,
  bytes: 0,
  cases: 0,
  milliseconds: 0,
  slowest: [],
  late: [],
  failures: [],
};

const shown = 3;

export function addTotals(one: Totals, other: Totals): Totals {
  const failures = new Map<string, Failure>();
  for (const failure of [...one.failures, ...other.failures]) {
    const known = failures.get(failure.place);
    const count = (known?.count ?? 0) + failure.count;
    failures.set(failure.place, { ...(known === undefined || known.number > failure.number ? failure : known), count });
  }
  return {
    objects: one.objects + other.objects,
    bytes: one.bytes + other.bytes,
    cases: one.cases + other.cases,
    milliseconds: one.milliseconds + other.milliseconds,
    slowest: [...one.slowest, ...other.slowest]
      .sort((left, right) => right.milliseconds - left.milliseconds)
      .slice(0, shown),
    late: [...one.late, ...other.late],
    failures: [...failures.values()],
  };
}

/** What an error is and where it comes from, without what differs from case to case. */
export function failureOf(number: number, error: unknown): Failure {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const frames = text
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 3)
    .join('\n');
  const name = /^(?:\w*Error: )?[\w-]*/.exec(text)?.[0] ?? '';
  return { number, count: 1, error: text.slice(0, 2000), place: `${name}\n${frames}` };
}
