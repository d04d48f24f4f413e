import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeComparison, EarlierFindings, readEarlierFindings } from '../../../../src/cli/report/comparison.ts';

test('findings are new, unchanged or gone, each as often as it was found', () => {
  const earlier = new EarlierFindings(['a', 'a', 'b', 'c']);
  expect(['a', 'b', 'b', 'd'].map((identity) => earlier.take(identity))).toEqual([true, true, false, false]);
  expect(earlier.comparison()).toEqual({ new: 2, unchanged: 2, gone: ['a', 'c'] });
  expect(describeComparison(earlier.comparison())).toBe('2 new, 2 gone, 2 unchanged');
});

test('a report in JSON gives the findings, except those that an annotation suppressed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-comparison-'));
  try {
    const file = join(folder, 'report.json');
    const finding = (identity: unknown, by?: string) => ({
      identity,
      ...(by === undefined ? {} : { suppression: { by } }),
    });
    await writeFile(
      file,
      JSON.stringify({
        tool: 'sallyport',
        objects: [
          {
            namespace: 'shop',
            findings: [finding('a'), finding('b', 'baseline'), finding('c', 'annotation'), finding(3), 'odd'],
          },
          'odd',
          { findings: null },
          { namespace: 'other', findings: [finding('d')] },
        ],
      }),
    );
    expect((await readEarlierFindings(file)).comparison().gone).toEqual(['a', 'b', 'd']);
    expect((await readEarlierFindings(file, 'shop')).comparison().gone).toEqual(['a', 'b']);
    await writeFile(file, '{"objects":3}');
    await expect(readEarlierFindings(file)).rejects.toThrow(
      `The report ${file} has no list of objects. Create it with "sallyport audit --cluster -o json".`,
    );
    await writeFile(file, 'text');
    await expect(readEarlierFindings(file)).rejects.toThrow('is not JSON');
  } finally {
    await rm(folder, { recursive: true });
  }
});
