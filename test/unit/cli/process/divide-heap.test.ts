import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { divideHeap } from '../../../../src/cli/process/divide-heap.ts';

/** The limit of the heap in bytes, both generations together, of a thread that starts now. */
async function heapOfThread(): Promise<number> {
  const thread = new Worker(
    'require("node:worker_threads").parentPort.postMessage(require("node:v8").getHeapStatistics().heap_size_limit)',
    { eval: true },
  );
  const [limit] = (await once(thread, 'message')) as [number];
  await once(thread, 'exit');
  return limit;
}

test.each([2, 3, 4, 7])('%i threads together have the heap of one', async (threads) => {
  const whole = getHeapStatistics().heap_size_limit;
  divideHeap(threads);
  const each = await heapOfThread();
  expect(threads * each).toBeLessThanOrEqual(whole);
  // Rounded to MiB for each thread.
  expect(threads * (each + 2 ** 20)).toBeGreaterThan(whole);
});
