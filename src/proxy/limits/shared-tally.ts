import { LocalTally, type Tally, type TallySource } from '../../fairness/tally.ts';

/** The tallies that threads share, in one piece of memory that each of them gets. */
export interface SharedTallies {
  readonly names: readonly string[];
  readonly threads: number;
  /** Per name and thread: the sum, then the amounts by the hash of their key. */
  readonly memory: SharedArrayBuffer;
  /** Makes it impossible to choose keys with the same hash. */
  readonly seed: number;
}

const slots = 2 ** 16;
/** In 32-bit numbers: sums that different threads write are not in one cache line. */
const lead = 16;
const region = lead + slots;

/** Creates tallies with amount 0. Memory that no key uses is not occupied. */
export function createSharedTallies(names: readonly string[], threads: number, seed: number): SharedTallies {
  const memory = new SharedArrayBuffer(names.length * threads * region * Int32Array.BYTES_PER_ELEMENT);
  return { names, threads, memory, seed };
}

/** The tallies as thread number `thread` uses them. An unknown name gets a tally of this thread alone. */
export function talliesOf(shared: SharedTallies, thread: number): TallySource {
  return (name) =>
    shared.names.includes(name) ? new SharedTally(amountsOf(shared, name), thread, shared) : new LocalTally();
}

/** Removes all amounts of a thread that has ended. */
export function clearThread(shared: SharedTallies, thread: number): void {
  for (const name of shared.names) amountsOf(shared, name).fill(0, thread * region, (thread + 1) * region);
}

function amountsOf({ names, threads, memory }: SharedTallies, name: string): Int32Array {
  const length = threads * region;
  return new Int32Array(memory, names.indexOf(name) * length * Int32Array.BYTES_PER_ELEMENT, length);
}

/**
 * A tally of several threads. Each thread writes amounts of its own, and reads the sums of all threads, so what a thread holds can be
 * removed when it ends. Two threads that check a limit at the same time may both pass it, so a limit can be exceeded by one item per
 * thread. Keys are not stored: two keys with the same hash, one in 65,536, share an amount. So what a single key may hold applies to both.
 */
class SharedTally implements Tally {
  private readonly amounts: Int32Array;
  private readonly own: number;
  private readonly threads: number;
  private readonly seed: number;

  constructor(amounts: Int32Array, thread: number, { threads, seed }: SharedTallies) {
    this.amounts = amounts;
    this.own = thread * region;
    this.threads = threads;
    this.seed = seed;
  }

  get total(): number {
    return this.sumAt(0);
  }

  of(key: string): number {
    return this.sumAt(this.slotOf(key));
  }

  add(key: string, amount: number): void {
    const { amounts, own } = this;
    const place = own + this.slotOf(key);
    // No other thread writes here.
    Atomics.store(amounts, place, (amounts[place] ?? 0) + amount);
    Atomics.store(amounts, own, (amounts[own] ?? 0) + amount);
  }

  private sumAt(offset: number): number {
    let sum = 0;
    for (let thread = 0; thread < this.threads; thread += 1)
      sum += Atomics.load(this.amounts, thread * region + offset);
    return sum;
  }

  private slotOf(key: string): number {
    let hash = this.seed;
    for (let position = 0; position < key.length; position += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(position), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x27d4eb2d);
    return lead + ((hash ^ (hash >>> 15)) & (slots - 1));
  }
}
