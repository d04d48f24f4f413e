import { afterAll, expect, test } from '@jest/globals';
import { limitBufferPool } from '../../../../src/cli/process/buffer-pool.ts';

const { poolSize } = Buffer;

afterAll(() => {
  Buffer.poolSize = poolSize;
});

test('a small buffer holds at most 4 KiB of memory', () => {
  limitBufferPool();
  // The rest of the former pool.
  const next = Math.ceil(poolSize / 1_000);
  const held = Array.from({ length: next + 5 }, () => Buffer.from('x'.repeat(1_000)).buffer.byteLength);
  expect(held.slice(next)).toEqual([4_096, 4_096, 4_096, 4_096, 4_096]);
});
