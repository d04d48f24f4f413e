/** A client that holds this many times the free amount of a quota gets no more of it. */
const share = 7;

/**
 * Whether a client may acquire one more item. `held` items are its own, `left` are free. A single client can hold seven
 * eighths; two can hold seven fifteenths each. A client without any always has room, and clients need not be counted.
 */
export function mayHaveMore(held: number, left: number): boolean {
  return held < share * left;
}
