import { describe, expect, test } from '@jest/globals';
import { ProtocolError, readLines } from '../../../src/channel/wire.ts';

async function linesOf(pieces: Iterable<Buffer>, longest = 2_000): Promise<readonly string[]> {
  async function* stream() {
    yield* pieces;
  }
  const lines: string[] = [];
  for await (const line of readLines(stream(), { first: longest, others: longest / 2 })) lines.push(line.take());
  return lines;
}

describe('readLines', () => {
  test('yields lines that are not held once they are taken', async () => {
    async function* stream() {
      yield Buffer.from('message\n');
    }
    for await (const line of readLines(stream(), { first: 10, others: 10 })) {
      expect(line.take()).toBe('message');
      expect(Object.values(line)).not.toContain('message');
    }
    expect.assertions(2);
  });

  test.each<[string[], string[]]>([
    [['a\nb\n'], ['a', 'b']],
    [
      ['a', 'b\nc', '\n'],
      ['ab', 'c'],
    ],
    [
      ['\n', '\n'],
      ['', ''],
    ],
    [['ä\n', 'incomplete'], ['ä']],
  ])('splits %j', async (pieces, lines) => {
    expect(await linesOf(pieces.map((piece) => Buffer.from(piece)))).toEqual(lines);
  });

  test('splits characters of several bytes at any place', async () => {
    const bytes = Buffer.from('"grüße 🌍"\n"und"\n');
    expect(await linesOf(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(['"grüße 🌍"', '"und"']);
  });

  // A compromised data plane could send 16 million pieces of one byte: more than 3 GB.
  test('does not keep the pieces', async () => {
    const reused = Buffer.alloc(1);
    function* pieces() {
      for (const byte of Buffer.from('abcdefgh\n')) {
        reused[0] = byte;
        yield reused;
      }
    }
    expect(await linesOf(pieces())).toEqual(['abcdefgh']);
  });

  test.each([[['aaaaaa\n']], [['aaaa', 'aa']], [['aaaa', 'aa\n']], [['a\naaa\n']], [['aaaaa\naa', 'a']]])(
    'rejects a line that is too long: %j',
    async (pieces) => {
      await expect(
        linesOf(
          pieces.map((piece) => Buffer.from(piece)),
          5,
        ),
      ).rejects.toThrow(ProtocolError);
    },
  );
});
