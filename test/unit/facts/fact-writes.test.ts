import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { parameterCell } from '../../../src/core/graph/inputs.ts';
import { factWrites } from '../../../src/facts/fact-writes.ts';

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function parametersOf(text: string): unknown {
  const json: unknown = JSON.parse(text);
  const writes = factWrites({ kind: 'ConfigMap', namespace: 'shop', name: 'files' }, json);
  return writes.find(({ input }) => input === parameterCell)?.value;
}

test('the beginnings of values in a ConfigMap do not keep the values in memory', () => {
  const text = JSON.stringify({ data: { file: 'x'.repeat(2 ** 20) } });
  const before = heapAfterCollection();
  const kept = Array.from({ length: 50 }, () => parametersOf(text));
  expect(heapAfterCollection() - before).toBeLessThan(10 * 2 ** 20);
  expect(kept).toHaveLength(50);
});

test('the value of a parameter stays as it is', () => {
  expect(parametersOf(JSON.stringify({ data: { replicas: '2', other: 'ü \ud800' } }))).toEqual({
    replicas: '2',
    other: 'ü \ud800',
  });
});
