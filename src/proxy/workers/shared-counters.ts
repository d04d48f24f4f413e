import { createCounters, type ProxyCounters } from '../counters.ts';

/** The counters of all workers of a data plane, in memory that all threads have. */
export interface SharedCounters {
  readonly workers: number;
  readonly memory: SharedArrayBuffer;
}

/** Names of members that count what is open now. All others count since the start. */
const present: ReadonlySet<string> = new Set(['openConnections', 'openRequests', 'open']);

type Place = readonly string[];

/** The places of all numbers, in the same order in each thread. Buffered bytes are a tally, not a counter. */
function placesIn(value: object, above: Place = []): readonly Place[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const place = [...above, name];
    if (typeof member === 'number') return [place];
    return name === 'buffered' ? [] : placesIn(member as object, place);
  });
}

const places = placesIn(createCounters());

/** Creates counters with value 0. */
export function createSharedCounters(workers: number): SharedCounters {
  return { workers, memory: new SharedArrayBuffer(workers * places.length * Float64Array.BYTES_PER_ELEMENT) };
}

/** The counters that one worker writes. */
export function countersOf(shared: SharedCounters, worker: number): ProxyCounters {
  const values = valuesOf(shared, worker);
  return counters((index) => ({
    get: () => values[index] ?? 0,
    set: (value: number) => {
      values[index] = value;
    },
  }));
}

/** The sums of all workers, which are read when they are used. `buffered`: the bytes that wait in all of them. */
export function summedCounters(shared: SharedCounters, buffered: { readonly used: number }): ProxyCounters {
  const all = Array.from({ length: shared.workers }, (_, worker) => valuesOf(shared, worker));
  const sums = counters((index) => ({ get: () => all.reduce((sum, values) => sum + (values[index] ?? 0), 0) }));
  sums.buffered = buffered;
  return sums;
}

/** Nothing is open any more in a worker that has ended. What it has counted stays. */
export function clearPresent(shared: SharedCounters, worker: number): void {
  const values = valuesOf(shared, worker);
  for (const [index, place] of places.entries()) if (place.some((name) => present.has(name))) values[index] = 0;
}

function valuesOf({ memory }: SharedCounters, worker: number): Float64Array {
  return new Float64Array(memory, worker * places.length * Float64Array.BYTES_PER_ELEMENT, places.length);
}

/** Replaces each number of fresh counters by the number at its place. */
function counters(at: (index: number) => Pick<PropertyDescriptor, 'get' | 'set'>): ProxyCounters {
  const created = createCounters();
  for (const [index, place] of places.entries()) {
    const owner = place
      .slice(0, -1)
      .reduce((value, name) => (value as Record<string, object>)[name] ?? {}, created as object);
    Object.defineProperty(owner, place.at(-1) ?? '', { ...at(index), enumerable: true });
  }
  return created;
}
