import { expect, test } from '@jest/globals';
import { boundOf, durationsBetween, durationsIn } from '../../bench/routes/durations.ts';
import { createMetrics } from '../../../src/telemetry/index.ts';

const metric = { name: 'sallyport_t_seconds', label: 'until="sent"' };

test('durations between two readings of a histogram have the bounds of their buckets', async () => {
  const metrics = createMetrics();
  const family = metrics.histogram({ name: 't_seconds', help: '', labels: ['until'] }, [0.001, 0.01, 0.1]);
  family.at('sent').observe(0.05);
  family.at('acknowledged').observe(5);
  const before = durationsIn([await metrics.scrape()], metric);
  for (let count = 0; count < 98; count += 1) family.at('sent').observe(0.0005);
  family.at('sent').observe(0.002);
  family.at('sent').observe(1);
  const added = durationsBetween(before, durationsIn([await metrics.scrape(), ''], metric));
  expect([0.5, 0.98, 0.99, 1].map((share) => boundOf(added, share))).toEqual([0.001, 0.001, 0.01, Infinity]);
});

test('no durations have no bound', () => {
  expect(boundOf(new Map(), 0.5)).toBeNaN();
  expect(boundOf(new Map([[1, 0]]), 0.5)).toBeNaN();
});
