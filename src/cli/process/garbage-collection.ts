import { setFlagsFromString } from 'node:v8';

/**
 * For processes whose objects first live long, and later only as long as a request. V8 learns from the first ones where to allocate objects, for example from
 * those that it keeps, or from the requests in progress at full load. Then it would allocate the later ones in old space too, where their collection is far
 * more expensive, and everything that they refer to would survive with them. Call this before the first object is read.
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

/**
 * For processes that serve requests or follow a cluster. V8 collects all garbage when the heap has grown by a share of what was left after the last collection. The
 * smaller the limit of the heap, the smaller is this share: 0.5 with 384 MiB, and 3 from 1 GiB on, although both heaps are small most of the time.
 * Near the limit of the heap, V8 collects earlier nevertheless.
 */
export function growBeforeCollecting(): void {
  setFlagsFromString('--heap-growing-percent=150');
}
