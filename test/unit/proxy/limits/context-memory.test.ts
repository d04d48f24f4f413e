import { expect, test } from '@jest/globals';
import { bytesOf, weigh } from '../../../../src/proxy/limits/context-memory.ts';

test('a context takes more with each of its CA certificates', () => {
  const [light, heavy] = [{}, {}];
  weigh(light, 0);
  weigh(heavy, 100);
  expect(bytesOf({})).toBe(bytesOf(light));
  expect(bytesOf(heavy) - bytesOf(light)).toBe(100 * 6.5 * 1024);
});

// Contexts of replaced certificates took 589 MiB before V8 collected the first of them.
test('V8 knows the memory of contexts', () => {
  const contexts = Array.from({ length: 10 }, () => ({}));
  const before = process.memoryUsage().arrayBuffers;
  for (const context of contexts) weigh(context, 1_000);
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(10 * 6_000_000);
  expect(contexts.map(bytesOf)).toHaveLength(10);
});
