import { setFlagsFromString } from 'node:v8';

/**
 * For processes that first read many objects to keep, and then many more to discard. V8 learns from the first ones where to allocate
 * objects, and would allocate the discarded ones in old space too, where their collection is far more expensive. Call this before
 * the first object is read.
 */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * For processes whose pauses delay requests. V8 divides a collection of the young generation between threads, and waits for all of them:
 * without a free core, for tens of milliseconds instead of a few. Flags apply to all threads of the process.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
