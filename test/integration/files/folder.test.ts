import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatProblem } from '../../../src/files/document.ts';
import { readFolder } from '../../../src/files/folder.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, text: string | Uint8Array): Promise<void> {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), text);
}

/** `file: value` for each document, then the problems, with names relative to the folder. */
async function read(...paths: readonly string[]): Promise<string[]> {
  const { documents, problems } = await readFolder(paths);
  const lines = [
    ...documents.map(({ file, value }) => `${file}: ${JSON.stringify(value)}`),
    ...problems.map(formatProblem),
  ];
  return lines.map((line) => line.replaceAll(`${folder}/`, ''));
}

describe('readFolder', () => {
  test('reads YAML and JSON files below folders, in stable order', async () => {
    await write('b.yml', 'port: 1');
    await write('a/z.json', '{"port": 2}');
    await write('a/B.YAML', 'port: 3\n---\nport: 4');
    await write('readme.md', '# no: yaml');
    await write('.hidden/x.yaml', 'port: 5');
    await write('.x.yaml', 'port: 6');
    expect(await read(folder)).toEqual([
      'a/B.YAML: {"port":3}',
      'a/B.YAML: {"port":4}',
      'a/z.json: {"port":2}',
      'b.yml: {"port":1}',
    ]);
  });

  test('reads a file by its name whatever that is, and each file once', async () => {
    await write('manifest.txt', 'port: 1');
    await write('a.yaml', 'port: 2');
    const paths = ['manifest.txt', 'a.yaml', '.'].map((name) => join(folder, name));
    expect(await read(...paths)).toEqual(['manifest.txt: {"port":1}', 'a.yaml: {"port":2}']);
  });

  test('one bad file leaves the others alone', async () => {
    await write('a.yaml', 'port: [');
    await write('b.yaml', new Uint8Array([0x61, 0x3a, 0x20, 0xff]));
    await write('c.yaml', 'port: 1');
    await symlink(join(folder, 'nowhere'), join(folder, 'd.yaml'));
    const lines = await read(folder, join(folder, 'missing'));
    expect(lines).toEqual([
      'c.yaml: {"port":1}',
      'd.yaml: the symbolic link is broken',
      'missing: file or folder not found',
      expect.stringMatching(/^a\.yaml:1:\d+: invalid YAML: /),
      'b.yaml: cannot read the file: invalid encoding; save the file as UTF-8',
    ]);
  });

  test('follows symbolic links, but not in circles', async () => {
    await write('real/a.yaml', 'port: 1');
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await symlink(folder, join(folder, 'real', 'up'));
    await symlink(join(folder, 'real', 'a.yaml'), join(folder, 'b.yaml'));
    const lines = await read(folder);
    expect(lines).toContain('b.yaml: {"port":1}');
    expect(lines).toContain('link/a.yaml: {"port":1}');
    expect(lines).toContain('real/a.yaml: {"port":1}');
    expect(lines.length).toBeLessThan(10);
  });

  // A link to / would otherwise lead to all files of the machine.
  test('does not follow a symbolic link to a folder above', async () => {
    await write('above/outside.yaml', 'port: 2');
    await write('above/given/a.yaml', 'port: 1');
    await symlink('/', join(folder, 'above/given/root'));
    await symlink(join(folder, 'above'), join(folder, 'above/given/up'));
    expect(await read(join(folder, 'above/given'))).toEqual(['above/given/a.yaml: {"port":1}']);
  });

  test('what cannot be read is reported with the reason', async () => {
    await symlink('loop.yaml', join(folder, 'loop.yaml'));
    await write('huge.yaml', '');
    await truncate(join(folder, 'huge.yaml'), 2 ** 26 + 1);
    await write('a.yaml', 'port: 1');
    expect(await read(folder, '/dev/null')).toEqual([
      'a.yaml: {"port":1}',
      'loop.yaml: symbolic links form a loop',
      '/dev/null: not a file or folder; use - to read from a pipe',
      'huge.yaml: cannot read the file: the file has 67108865 bytes, more than the limit of 67108864; use smaller files',
    ]);
  });
});
