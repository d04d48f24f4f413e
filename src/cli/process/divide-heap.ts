import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const mebibyte = 2 ** 20;
/** V8 takes so many semi-spaces for the young generation at most. */
const semiSpaces = 3;

/**
 * Divides the heap that one thread would have between `threads` threads that start from now on. The young generation has a limit of its own: without
 * it, each thread could take as much of it as a process with one thread, 192 MiB, whatever its share is.
 */
export function divideHeap(threads: number): void {
  const heap = getHeapStatistics().heap_size_limit / mebibyte / threads;
  // A third of the heap, as in a data plane with the default memory. V8 rounds up to a power of two.
  const semiSpace = Math.max(1, 2 ** Math.floor(Math.log2(heap / 3 / semiSpaces)));
  setFlagsFromString(`--max-semi-space-size=${semiSpace}`);
  setFlagsFromString(`--max-old-space-size=${Math.floor(heap - semiSpaces * semiSpace)}`);
}
