import { NextTurn } from '../../time/next-turn.ts';

/** The part of a name that determines its turn. */
interface Tried {
  /** Failed lookups since the last successful one. */
  readonly failures: number;
  /** Whether the last answer had so many addresses that it took milliseconds of the event loop. */
  readonly isLarge: boolean;
}

/** Large answers that can arrive in the same moment. */
const largeLookups = 2;
/** Milliseconds of a period, and the lookups that start in the first and in any later one. */
const period = 10;
const firstStarts = 2;
const mostStarts = 8;
const lanes = ['likely', 'unlikely', 'large'] as const;
type Lane = (typeof lanes)[number];

/**
 * Starts lookups, with a limit of how many run at a time. Lookups of names that failed last time run until their timeout, so they come
 * after all others and use at most half of the limit: many such names must not delay those that servers answer for. Of names with large
 * answers, few run at a time. Nobody knows how large the answer for a new name is, so few lookups start in a moment: the fewer, the larger
 * the last answers were.
 */
export class LookupTurns<N extends Tried> {
  private readonly limit: number;
  private readonly look: (name: N) => Promise<void>;
  /** Names that wait for a lookup, in order. */
  private readonly waiting: Record<Lane, Set<N>> = { likely: new Set(), unlikely: new Set(), large: new Set() };
  private readonly running: Record<Lane, number> = { likely: 0, unlikely: 0, large: 0 };
  private readonly limits: Record<Lane, number>;
  private starts = firstStarts;
  private started = 0;
  private readonly nextPeriod = new NextTurn(() => {
    this.started = 0;
    for (let count = 0; count < this.starts; count += 1) this.next();
  });

  /** `look` must not reject. */
  constructor(limit: number, look: (name: N) => Promise<void>) {
    this.limit = limit;
    this.limits = { likely: limit, unlikely: Math.ceil(limit / 2), large: largeLookups };
    this.look = look;
  }

  /** Starts the lookup of a name as soon as there is room. */
  add(name: N): void {
    this.waiting[laneOf(name)].add(name);
    this.next();
  }

  /** Removes a name that still waits. */
  remove(name: N): void {
    for (const lane of lanes) this.waiting[lane].delete(name);
  }

  private next(): void {
    const { waiting, running, limits } = this;
    if (this.started >= this.starts || running.likely + running.unlikely + running.large >= this.limit) return;
    const lane = lanes.find((one) => waiting[one].size > 0 && running[one] < limits[one]);
    if (lane === undefined) return;
    const [name] = waiting[lane];
    if (name === undefined) return;
    waiting[lane].delete(name);
    running[lane] += 1;
    this.started += 1;
    this.nextPeriod.requestAfter(period);
    void this.look(name).finally(() => {
      running[lane] -= 1;
      this.starts = name.isLarge ? 1 : Math.min(this.starts + 1, mostStarts);
      this.next();
    });
  }
}

function laneOf({ failures, isLarge }: Tried): Lane {
  if (isLarge) return 'large';
  return failures === 0 ? 'likely' : 'unlikely';
}
