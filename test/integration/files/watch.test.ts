import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appendFile, open as openFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { formatProblem } from '../../../src/files/document.ts';
import { watchFolder } from '../../../src/files/watch.ts';
import type { FolderChange, FolderWatch } from '../../../src/files/watch.ts';

let folder = '';
let open: FolderWatch[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-'));
});

afterEach(async () => {
  for (const watch of open) watch.close();
  open = [];
  await rm(folder, { recursive: true, force: true });
});

const at = (...names: readonly string[]) => join(folder, ...names);
const object = (name: string, n = 1) => `kind: A\nmetadata: {name: ${name}}\nport: ${n}\n`;

/** Every change as `+name`, `-name` and `name n→n`, with `!message` for each problem there is after it. */
async function watched(...paths: readonly string[]) {
  const changes: string[][] = [];
  const watch = await watchFolder(paths, (change) => void changes.push(describeChange(change)));
  open.push(watch);
  return { watch, changes, all: () => changes.flat() };
}

function describeChange({ added, changed, removed, problems }: FolderChange): string[] {
  return [
    ...added.map(({ value }) => `+${nameOf(value)}`),
    ...removed.map(({ value }) => `-${nameOf(value)}`),
    ...changed.map(({ before, after }) => `${nameOf(after.value)} ${numberOf(before.value)}→${numberOf(after.value)}`),
    ...problems.map((problem) => `!${formatProblem(problem).replaceAll(`${folder}/`, '')}`),
  ];
}

const nameOf = (value: unknown) => (value as { metadata: { name: string } }).metadata.name;
const numberOf = (value: unknown) => (value as { port: number }).port;

/** Waits for what is expected to happen; the limit of the test is the limit. */
async function until(check: () => void): Promise<void> {
  for (;;) {
    try {
      check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(10);
    }
  }
}
let deadline = 0;
beforeEach(() => {
  deadline = Date.now() + 15_000;
});

describe('watchFolder', () => {
  test('tells what is there, then what is added, changed and removed', async () => {
    await writeFile(at('a.yaml'), `${object('one')}---\n${object('two')}`);
    const { watch, changes } = await watched(folder);
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one', 'two']);
    await writeFile(at('a.yaml'), `${object('two', 2)}---\n${object('three')}`);
    await until(() => expect(changes).toEqual([['+three', '-one', 'two 1→2']]));
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['two', 'three']);
    await rm(at('a.yaml'));
    await until(() => expect(changes[1]).toEqual(['-two', '-three']));
  });

  test('a new folder, its folders, and their end', async () => {
    const { all } = await watched(folder);
    await mkdir(at('x', 'y'), { recursive: true });
    await writeFile(at('x', 'y', 'a.yaml'), object('deep'));
    await until(() => expect(all()).toEqual(['+deep']));
    await appendFile(at('x', 'y', 'a.yaml'), `---\n${object('deeper')}`);
    await until(() => expect(all()).toEqual(['+deep', '+deeper']));
    await rm(at('x'), { recursive: true });
    await until(() => expect(all().toSorted()).toEqual(['+deep', '+deeper', '-deep', '-deeper']));
    await mkdir(at('x'));
    await writeFile(at('x', 'b.yaml'), object('again'));
    await until(() => expect(all()).toContain('+again'));
    await writeFile(at('x', 'b.yaml'), object('again', 2));
    await until(() => expect(all()).toContain('again 1→2'));
  });

  test('editors that write beside and rename, for a folder and for a single file', async () => {
    await writeFile(at('a.yaml'), object('one'));
    const watches = [await watched(folder), await watched(at('a.yaml'))];
    for (let n = 1; n < 4; n++) {
      await writeFile(at('.a.yaml.swp'), object('one', n + 1));
      await rename(at('.a.yaml.swp'), at('a.yaml'));
      for (const { all } of watches) await until(() => expect(all()).toHaveLength(n));
    }
    for (const { all } of watches) expect(all()).toEqual(['one 1→2', 'one 2→3', 'one 3→4']);
  });

  test('the way in which Kubernetes updates a mounted ConfigMap', async () => {
    await mkdir(at('..1'));
    await writeFile(at('..1', 'a.yaml'), object('one'));
    await symlink('..1', at('..data'));
    await symlink(join('..data', 'a.yaml'), at('a.yaml'));
    const { watch, all } = await watched(folder);
    expect(watch.content.documents).toHaveLength(1);
    for (let n = 2; n < 4; n++) {
      await mkdir(at(`..${n}`));
      await writeFile(at(`..${n}`, 'a.yaml'), object('one', n));
      await symlink(`..${n}`, at('..data_tmp'));
      await rename(at('..data_tmp'), at('..data'));
      await rm(at(`..${n - 1}`), { recursive: true });
      await until(() => expect(all().at(-1)).toBe(`one ${n - 1}→${n}`));
    }
    expect(all()).toHaveLength(2);
  });

  test('what a symbolic link leads to', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'watch-'));
    try {
      await writeFile(join(elsewhere, 'a.yaml'), object('one'));
      await symlink(elsewhere, at('link'));
      const { all } = await watched(folder);
      await writeFile(join(elsewhere, 'a.yaml'), object('one', 2));
      await until(() => expect(all()).toEqual(['one 1→2']));
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  test('a folder that is not there yet, or is replaced', async () => {
    const { watch, all } = await watched(at('later', 'sub'));
    expect(watch.content.problems.map(({ message }) => message)).toEqual(['file or folder not found']);
    await mkdir(at('later', 'sub'), { recursive: true });
    await writeFile(at('later', 'sub', 'a.yaml'), object('one'));
    await until(() => expect(all().at(-1)).toBe('+one'));
    await mkdir(at('next'));
    await writeFile(at('next', 'a.yaml'), object('one', 2));
    await rename(at('later', 'sub'), at('old'));
    await rename(at('next'), at('later', 'sub'));
    await until(() => expect(watch.content.documents.map(({ value }) => numberOf(value))).toEqual([2]));
    await writeFile(at('later', 'sub', 'a.yaml'), object('one', 3));
    await until(() => expect(all().at(-1)).toBe('one 2→3'));
  });

  test('a file that is written slowly never looks empty or cut short', async () => {
    await writeFile(at('a.yaml'), object('one'));
    const { all } = await watched(folder);
    const file = await openFile(at('a.yaml'), 'w');
    for (const letter of `${object('one', 2)}---\n${object('two')}`) {
      await file.write(letter);
      await setImmediate();
    }
    await file.close();
    await until(() => expect(all()).toEqual(['+two', 'one 1→2']));
  });

  test('a file that is written in place with pauses keeps its documents until it is complete', async () => {
    const text = (n: number) => ['one', 'two', 'three', 'four', 'five'].map((name) => object(name, n)).join('---\n');
    await writeFile(at('a.yaml'), text(1));
    const { changes } = await watched(folder);
    const file = await openFile(at('a.yaml'), 'w');
    for (const piece of text(2).match(/[^]{20}|[^]+$/g) ?? []) {
      // Longer than the watch waits for further events.
      await setTimeout(150);
      await file.write(piece);
    }
    await file.close();
    await until(() => expect(changes).toEqual([['one 1→2', 'two 1→2', 'three 1→2', 'four 1→2', 'five 1→2']]));
  });

  test('a file that becomes empty keeps its documents, with the problem told', async () => {
    const text = `${object('one')}---\n${object('two')}`;
    await writeFile(at('a.yaml'), text);
    const { watch, changes } = await watched(folder);
    await writeFile(at('a.yaml'), '');
    await until(() =>
      expect(changes).toEqual([
        ['!a.yaml: the file is empty, and its previous contents stay in effect; delete the file to remove them'],
      ]),
    );
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one', 'two']);
    const file = await openFile(at('a.yaml'), 'w');
    await file.write(object('one'));
    await setTimeout(300);
    await file.write(`---\n${object('two')}`);
    await file.close();
    await until(() => expect(changes[1]).toEqual([]));
    await writeFile(at('a.yaml'), object('two'));
    await until(() => expect(changes[2]).toEqual(['-one']));
    await writeFile(at('.new'), '');
    await rename(at('.new'), at('a.yaml'));
    await until(() => expect(changes[3]).toEqual(['-two']));
  });

  test('a broken file keeps its last good documents, with the problem told', async () => {
    await writeFile(at('a.yaml'), `${object('one')}---\n${object('two')}`);
    await writeFile(at('b.yaml'), object('other'));
    const { watch, changes } = await watched(folder);
    await writeFile(at('a.yaml'), `${object('one', 2)}---\nport: [\n`);
    await until(() => expect(changes).toEqual([[expect.stringMatching(/^!a\.yaml:\d+:\d+: invalid YAML: /)]]));
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one', 'two', 'other']);
    await writeFile(at('b.yaml'), object('other', 2));
    await until(() => expect(changes[1]?.[0]).toBe('other 1→2'));
    await writeFile(at('a.yaml'), object('one', 3));
    await until(() => expect(changes[2]).toEqual(['-two', 'one 1→3']));
  });

  test('a file broken from the first keeps what can be read of it', async () => {
    await writeFile(at('a.yaml'), `${object('one')}---\nport: [\n`);
    const { watch, changes } = await watched(folder);
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one']);
    await writeFile(at('a.yaml'), `${object('one', 2)}---\nport: [\n`);
    await until(() => expect(changes.flat()[0]).toBe('one 1→2'));
  });

  test('a file that cannot be read keeps its last good documents, with the problem told', async () => {
    await writeFile(at('a.yaml'), object('one'));
    const { watch, changes } = await watched(folder);
    await writeFile(at('.new'), new Uint8Array([0xff]));
    await rename(at('.new'), at('a.yaml'));
    await until(() =>
      expect(changes).toEqual([['!a.yaml: cannot read the file: invalid encoding; save the file as UTF-8']]),
    );
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one']);
    await symlink('a.yaml', at('.new'));
    await rename(at('.new'), at('a.yaml'));
    await until(() => expect(changes[1]).toEqual(['!a.yaml: symbolic links form a loop']));
    expect(watch.content.documents.map(({ value }) => nameOf(value))).toEqual(['one']);
    await rm(at('a.yaml'));
    await until(() => expect(changes[2]).toEqual(['-one']));
  });

  test('a link that leads nowhere for a while keeps the documents', async () => {
    await writeFile(at('.real'), object('one'));
    await symlink('.real', at('a.yaml'));
    const { watch, all } = await watched(folder);
    await rename(at('.real'), at('.away'));
    await until(() => expect(all()).toEqual(['!a.yaml: the symbolic link is broken']));
    expect(watch.content.documents).toHaveLength(1);
    await writeFile(at('.real'), object('one', 2));
    await until(() => expect(all().at(-1)).toBe('one 1→2'));
  });

  test('is silent where nothing is different, and after close', async () => {
    await writeFile(at('a.yaml'), object('one'));
    const { watch, changes } = await watched(folder);
    await writeFile(at('a.yaml'), `# comment\n${object('one')}`);
    await writeFile(at('notes.txt'), 'text');
    await until(() => expect(watch.content.documents[0]?.line).toBe(2));
    expect(changes).toEqual([]);
    watch.close();
    await writeFile(at('a.yaml'), object('one', 2));
    // Nothing to wait for: a second watch shows that the first had the time.
    const second = await watched(folder);
    await writeFile(at('a.yaml'), object('one', 3));
    await until(() => expect(second.all()).toEqual(['one 2→3']));
    expect(changes).toEqual([]);
  });

  test('changes come one after the other, whatever the receiver takes for each', async () => {
    const events: string[] = [];
    open.push(
      await watchFolder([folder], async (change) => {
        events.push('begin');
        await setTimeout(50);
        events.push(...describeChange(change), 'end');
      }),
    );
    await writeFile(at('a.yaml'), object('one'));
    await until(() => expect(events).toContain('begin'));
    await writeFile(at('a.yaml'), object('one', 2));
    await until(() => expect(events).toEqual(['begin', '+one', 'end', 'begin', 'one 1→2', 'end']));
  });
});
