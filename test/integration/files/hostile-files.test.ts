import { execFileSync } from 'node:child_process';
import { mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { formatProblem } from '../../../src/files/document.ts';
import { readRegular } from '../../../src/files/read-file.ts';
import { streamObjects } from '../../../src/files/stream.ts';
import { watchFolder, type FolderWatch } from '../../../src/files/watch.ts';
import { until } from '../../support/until.ts';

// Whatever takes the place of a file, its last good objects stay in effect and the problem is reported.

let folder = '';
let file = '';
let open: FolderWatch[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  file = join(folder, 'a.yaml');
  await writeFile(file, 'kind: A\n');
});

afterEach(async () => {
  for (const watch of open.splice(0)) watch.close();
  open = [];
  await rm(folder, { recursive: true, force: true });
});

const replacements: Readonly<Record<string, { readonly put: () => Promise<void>; readonly problem: RegExp }>> = {
  'a pipe': {
    put: () =>
      Promise.resolve(void execFileSync('mkfifo', [join(folder, 'pipe')])).then(() =>
        rename(join(folder, 'pipe'), file),
      ),
    problem:
      /^a\.yaml: not a (?:regular file; replace it with a regular file, or remove it|file or folder; use - to read from a pipe)$/,
  },
  'a link to itself': {
    put: () => rm(file).then(() => symlink('a.yaml', file)),
    problem: /^a\.yaml: symbolic links form a loop$/,
  },
  'a device': {
    put: () => symlink('/dev/zero', join(folder, 'zero')).then(() => rename(join(folder, 'zero'), file)),
    problem: /^a\.yaml: not a /,
  },
  'a sparse file of 2 GiB': {
    put: () => truncate(file, 2 ** 31),
    problem:
      /^a\.yaml: cannot read the file: the file has 2147483648 bytes, more than the limit of 67108864; use smaller files$/,
  },
  'a sparse file of 32 MiB': {
    put: () => truncate(file, 2 ** 25),
    problem: /^a\.yaml:2:1: a NUL character \(U\+0000\) is not allowed in YAML or JSON\. /,
  },
};

for (const [name, { put, problem }] of Object.entries(replacements)) {
  for (const [of, path] of Object.entries({ folder: () => folder, file: () => file })) {
    test(`${name} in place of a file of a watched ${of}`, async () => {
      const watch = await watchFolder([path()], () => undefined);
      open.push(watch);
      await put();
      await until(() =>
        expect(watch.content.problems.map((found) => formatProblem(found).replaceAll(`${folder}/`, ''))).toEqual([
          expect.stringMatching(problem),
        ]),
      );
      expect(watch.content.documents.map(({ value }) => value)).toEqual([{ kind: 'A' }]);
      await rm(file);
      await writeFile(file, 'kind: B\n');
      await until(() => expect(watch.content.documents.map(({ value }) => value)).toEqual([{ kind: 'B' }]));
      expect(watch.content.problems).toEqual([]);
    });
  }
}

test('a path that becomes a pipe after it was found to be a file does not keep the reader waiting', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(readRegular(pipe, 10)).rejects.toThrow('not a regular file');
});

test('a file that has no size and does not end is read up to the limit', async () => {
  await expect(readRegular('/proc/self/maps', 10)).rejects.toThrow('more than the limit of 10; use smaller files');
  await expect(readRegular(file, 8)).resolves.toHaveLength(8);
  await expect(readRegular(file, 7)).rejects.toThrow('the file has 8 bytes');
});

test('a file that grows faster than it is read ends where it ended when it was opened', async () => {
  await writeFile(file, 'kind: A\n---\n'.repeat(20_000));
  let objects = 0;
  for await (const items of streamObjects([file], () => process.stdin)) {
    for (const { type } of items) if (type === 'object') objects += 1;
    await writeFile(file, 'kind: A\n---\n'.repeat(20_000), { flag: 'a' });
    if (objects > 30_000) break;
  }
  expect(objects).toBe(20_000);
});
