import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readingSlice } from '../../../src/kubernetes/chunks.ts';
import { readJsonLines } from '../../../src/kubernetes/lines.ts';

async function* chunksOf(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(text: string, { size = 7, limit = 1_000 } = {}): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const batch of readJsonLines(chunksOf(text, size), { limit })) values.push(...batch);
  return values;
}

describe('lines of JSON', () => {
  test('are whole, however they are cut', async () => {
    const value = fc.jsonValue().filter((json) => JSON.stringify(json).length < 900);
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.integer({ min: 1, max: 50 }), async (values, size) => {
        const text = values.map((json) => `${JSON.stringify(json)}\n`).join('');
        expect(JSON.stringify(await read(text, { size }))).toBe(JSON.stringify(values));
      }),
    );
  });

  test('may be empty, and end with CR LF', async () => {
    expect(await read('\n{"a":1}\r\n\n2\n')).toEqual([{ a: 1 }, 2]);
  });

  test('come in batches of what a chunk completed', async () => {
    const batches: (readonly unknown[])[] = [];
    for await (const batch of readJsonLines(chunksOf('1\n2\n3\n4\n', 6))) batches.push(batch);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });

  test('give others turns, if a chunk has very many', async () => {
    const text = '1\n'.repeat(2 ** 20) + '\n'.repeat(2 ** 20);
    let turns = 0;
    let counting = setImmediate(function count() {
      turns += 1;
      counting = setImmediate(count);
    });
    let values = 0;
    for await (const batch of readJsonLines(chunksOf(text, text.length))) values += batch.length;
    clearImmediate(counting);
    expect(values).toBe(2 ** 20);
    expect(turns).toBeGreaterThan(5);
  });

  test('give others turns, if readers of other streams have used the slice of this one', async () => {
    const text = '1\n'.repeat(40_000);
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    readingSlice.note(10);
    try {
      const reading = readJsonLines(chunksOf(text, text.length));
      const first = await reading.next();
      expect(first.value).toHaveLength(32 * 1024);
      const rest = await reading.next();
      expect(rest.value).toHaveLength(40_000 - 32 * 1024);
    } finally {
      now.mockRestore();
    }
  });

  test.each([
    ['no JSON', '{"a":1}\nnonsense\n', 'is not valid JSON'],
    ['cut', '{"a":1}\n{"a":', 'in the middle of a line'],
    ['too long', `"${'x'.repeat(1_000)}"\n`, 'more than 1000 characters'],
    ['too long and without an end', 'x'.repeat(5_000), 'more than 1000 characters'],
  ])('an error where a line is %s', async (_name, text, problem) => {
    await expect(read(text)).rejects.toThrow(problem);
    await expect(read(text, { size: 100_000 })).rejects.toThrow(problem);
  });
});
