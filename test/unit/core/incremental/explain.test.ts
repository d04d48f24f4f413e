import { expect, test } from '@jest/globals';
import { createKernel, defineIndex, defineInput, defineQuery, type Explanation, write } from '../../../../src/core/incremental/index.ts';

const cells = defineInput<number>('cells');
const names = defineIndex({
  name: 'names',
  stratum: 0,
  over: { input: cells, populations: ['n'] },
  entries: (_, population = '', name = '') => [{ bucket: population, entry: name }],
});
const half = defineQuery({ name: 'half', stratum: 0, compute: (read, name: string) => (read.input(cells, 'n', name) ?? 0) / 2 });
const sum = defineQuery({
  name: 'sum',
  stratum: 1,
  compute: (read) => read.list(names, 'n').reduce((total, name) => total + read.query(half, name), 0) + read.query(half, 'a'),
});
const chain = defineQuery({
  name: 'chain',
  stratum: 0,
  compute: (read, length: string): number => (length === '' ? 0 : read.query(chain, length.slice(1)) + 1),
});
const both = defineQuery({ name: 'both', stratum: 1, compute: (read) => read.query(sum) + read.query(half, 'a') });

function countNodes({ reads }: Explanation): number {
  return reads.reduce((total, read) => total + countNodes(read), 1);
}

function depthOf({ reads }: Explanation): number {
  return 1 + Math.max(0, ...reads.map(depthOf));
}

test('explain shows what was read, in order, and each query in full once', () => {
  const kernel = createKernel({ indexes: [names], emissions: [] });
  kernel.apply([write(cells, ['n', 'a'], 2), write(cells, ['n', 'b'], 4)]);
  const input = (name: string, value: number): Explanation => ({ kind: 'input', name: 'cells', args: ['n', name], value, reads: [], omitted: 0 });
  const halfOf = (name: string, value: number): Explanation => ({
    kind: 'query',
    name: 'half',
    args: [name],
    value,
    reads: [input(name, 2 * value)],
    omitted: 0,
  });
  const list: Explanation = { kind: 'list', name: 'names', args: ['n'], value: ['a', 'b'], reads: [], omitted: 0 };
  expect(kernel.explain(both)).toEqual({
    kind: 'query',
    name: 'both',
    args: [],
    value: 5,
    reads: [
      { kind: 'query', name: 'sum', args: [], value: 4, reads: [list, { ...halfOf('a', 1), reads: [], omitted: 1 }, halfOf('b', 2)], omitted: 0 },
      halfOf('a', 1),
    ],
    omitted: 0,
  });
});

test('explain is bounded in depth and size', () => {
  const kernel = createKernel({ indexes: [names], emissions: [] });
  kernel.apply(Array.from({ length: 3000 }, (_, position) => write(cells, ['n', `n${position}`], position)));
  expect(depthOf(kernel.explain(chain, '.'.repeat(50)))).toBe(12);
  const wide = kernel.explain(sum);
  expect(countNodes(wide)).toBe(1000);
  // 3001 queries and the list, of which 999 are shown
  expect(wide.omitted).toBe(3002 - 999);
});

test('explain leaves nothing behind', () => {
  const kernel = createKernel({ indexes: [names], emissions: [] });
  kernel.explain(sum);
  kernel.apply([]);
  expect(kernel.statistics().nodes).toBe(0);
});
