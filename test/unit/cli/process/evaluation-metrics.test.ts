import { expect, test } from '@jest/globals';
import { exposeEvaluation } from '../../../../src/cli/process/evaluation-metrics.ts';
import { createKernel, defineInput, defineQuery, write } from '../../../../src/core/incremental/index.ts';
import { createMetrics } from '../../../../src/telemetry/index.ts';

const numbers = defineInput<number>('numbers');
const double = defineQuery({
  name: 'double',
  stratum: 0,
  compute: (read, name: string) => 2 * (read.input(numbers, name) ?? 0),
});

test('a scrape shows the size of the evaluation and how often it ran', async () => {
  const metrics = createMetrics();
  const kernel = createKernel({ indexes: [], emissions: [] });
  exposeEvaluation(metrics, kernel);
  kernel.apply([write(numbers, ['a'], 1)]);
  kernel.read.query(double, 'a');
  const samples = (await metrics.scrape()).split('\n');
  expect(samples).toContain('sallyport_evaluation_nodes{type="cells"} 1');
  expect(samples).toContain('sallyport_evaluation_nodes{type="queries"} 1');
  expect(samples).toContain('sallyport_evaluation_recomputations_total 1');
});
