import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readBaseline } from '../../../../src/cli/report/baseline.ts';
import { readReportFile } from '../../../../src/cli/report/report-file.ts';

let file = '';
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'sallyport-report-')), 'report.json');
});
afterEach(() => rm(join(file, '..'), { recursive: true }));

describe.each<[string, (file: string) => Promise<unknown>]>([
  ['baseline', readBaseline],
  ['report', readReportFile],
])('a %s', (what, read) => {
  test.each<[string, () => Promise<void>, string]>([
    [
      'pipe',
      () => Promise.resolve(void execFileSync('mkfifo', [file])),
      'not a regular file; replace it with a regular file, or remove it',
    ],
    ['device', () => symlink('/dev/zero', file), 'not a regular file; replace it with a regular file, or remove it'],
    [
      'file of 2 GiB',
      () => writeFile(file, '').then(() => truncate(file, 2 ** 31)),
      'the file has 2147483648 bytes, more than the limit of 67108864; use smaller files',
    ],
  ])('that is a %s is refused without reading it', async (_what, create, reason) => {
    await create();
    await expect(read(file)).rejects.toThrow(`cannot use the ${what} ${file}: ${reason}`);
  });
});
