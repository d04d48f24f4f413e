import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { formatProblem } from '../../../src/files/document.ts';
import { streamObjects, type Item } from '../../../src/files/stream.ts';

async function* bytes(...pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** What comes of paths and standard input: values with file, index and line, or problems. */
async function read(paths: readonly string[], input: AsyncIterable<Uint8Array> = bytes()): Promise<readonly unknown[]> {
  const items: Item[] = [];
  for await (const piece of streamObjects(paths, () => input)) items.push(...piece);
  return items.map((item) => {
    if (item.type === 'problem') return formatProblem(item.problem);
    const { file, index, line, value } = item.document;
    return [file, index, line, value];
  });
}

describe('streamObjects', () => {
  test('reads standard input, then files, object by object', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stream-'));
    const file = join(folder, 'b.yaml');
    await writeFile(file, '\uFEFFb: 1\n---\nb: 2\n');
    expect(
      await read(
        [file, '-', file],
        bytes('a: 1\n--', '-\na: "', Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1), '"'),
      ),
    ).toEqual([
      ['stdin', 0, 1, { a: 1 }],
      ['stdin', 1, 3, { a: 'ä' }],
      [file, 0, 1, { b: 1 }],
      [file, 1, 3, { b: 2 }],
    ]);
    await rm(folder, { recursive: true });
  });

  test('reports a broken document between its neighbours', async () => {
    expect(await read(['-'], bytes('a: 1\n---\na: [\n---\na: 3\n'))).toEqual([
      ['stdin', 0, 1, { a: 1 }],
      expect.stringMatching(/^stdin:\d+:\d+: invalid YAML/),
      ['stdin', 1, 5, { a: 3 }],
    ]);
  });

  test('reports what is not UTF-8, what is missing, and what fails', async () => {
    expect(await read(['-'], bytes('a: 1\n---\n', Buffer.from([0xff])))).toEqual([
      ['stdin', 0, 1, { a: 1 }],
      'stdin: cannot read the file: invalid encoding; save the file as UTF-8',
    ]);
    expect(await read(['-'], bytes(Buffer.from('a: ä').subarray(0, 4)))).toEqual([
      'stdin: cannot read the file: invalid encoding; save the file as UTF-8',
    ]);
    expect(await read(['does-not-exist.yaml'])).toEqual(['does-not-exist.yaml: file or folder not found']);
    const failing = (async function* fail(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a: 1\n---\n');
      throw new Error('the pipe broke');
    })();
    expect(await read(['-'], failing)).toEqual([
      ['stdin', 0, 1, { a: 1 }],
      'stdin: cannot read the file: the pipe broke',
    ]);
  });

  test('gives up on a document without end', async () => {
    let sent = 0;
    const endless = (async function* send(): AsyncGenerator<Uint8Array> {
      const piece = Buffer.alloc(1024 * 1024, 'a');
      for (; sent < 200; sent++) yield piece;
    })();
    expect(await read(['-'], endless)).toEqual([
      expect.stringMatching(/^stdin: cannot read the file: a document has more than 67108864 characters; split it/),
    ]);
    expect(sent).toBeLessThan(70);
  });
});
