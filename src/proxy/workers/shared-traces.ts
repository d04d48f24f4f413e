import type { UsedTraces } from '../messages/tracing.ts';

/** The traces that were used, in memory that all threads have. */
export type SharedTraces = SharedArrayBuffer;

/** Number of traces that can be remembered. */
const size = 1_024;
const bits = 32n;

export function createSharedTraces(): SharedTraces {
  return new SharedArrayBuffer(size * BigUint64Array.BYTES_PER_ELEMENT);
}

/**
 * Remembers traces for several threads. Each entry is one number, so that threads can exchange entries without a lock: the seconds until
 * which the signature is valid, and 32 bits of its nonce. Nonces are random, and only those of valid signatures get here.
 */
export function usedTracesIn(memory: SharedTraces): UsedTraces {
  const entries = new BigUint64Array(memory);
  return {
    add(nonce, until, now) {
      const mine = (BigInt(Math.ceil(until / 1000)) << bits) | BigInt(Buffer.from(nonce, 'base64url').readUInt32BE());
      const current = BigInt(Math.floor(now / 1000));
      // All threads look at the entries in the same order, so the second use of a nonce meets the first one.
      for (let place = 0; place < size; place += 1) {
        let entry = Atomics.load(entries, place);
        if (entry >> bits < current) {
          const found = Atomics.compareExchange(entries, place, entry, mine);
          if (found === entry) return !isElsewhere(entries, mine, place);
          entry = found;
        }
        if (entry === mine) return false;
      }
      return false;
    },
  };
}

/** Whether a later entry has the same nonce: an earlier one has expired since it was used. */
function isElsewhere(entries: BigUint64Array, mine: bigint, place: number): boolean {
  for (let later = place + 1; later < size; later += 1) {
    if (Atomics.load(entries, later) === mine) return true;
  }
  return false;
}
