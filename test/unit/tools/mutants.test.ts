import { describe, expect, test } from '@jest/globals';
import { mutantsOf } from '../../../tools/mutants.ts';

/** The texts of all mutants of one line. */
const changes = (line: string): readonly string[] => mutantsOf(line).map(({ text }) => text);

describe('the mutants of a source', () => {
  test.each<[string, readonly string[]]>([
    ['const a = b === c', ['const a = b !== c']],
    ['const a = b < c', ['const a = b <= c', 'const a = b >= c']],
    ['const a = b /* && */ && c', ['const a = b /* || */ && c']],
    ['const a = b ?? c', ['const a = b', 'const a = c']],
    ['const a = b ? c : d', ['const a = true ? c : d', 'const a = false ? c : d']],
    ['const a = !b', ['const a = b']],
    ['const a = [true, 1]', ['const a = [false, 1]', 'const a = [true, 2]']],
    ['while (a) b()', ['while (false) b()', 'while (a) ;']],
    ['function f(): 1 { return a; }', ['function f(): 1 { return; }']],
    ['function f() { return; }', []],
    ['type A = 1 | true', []],
    ['interface A { readonly a: 1 }', []],
    ['const a: 1 = b as 1', []],
    ["import { a } from 'b'", []],
    [
      'class A extends B { constructor() { super(1 as 1); } }',
      ['class A extends B { constructor() { super(2 as 1); } }'],
    ],
  ])('%s', (line, expected) => {
    expect(changes(line)).toEqual(expected);
  });

  test('have the line of the change, also after characters of several bytes', () => {
    expect(mutantsOf('// ü €\nconst a = 1;\n// 𝄞\nconst b = 2;\n')).toEqual([
      { line: 2, what: 'add 1 to the constant', text: '// ü €\nconst a = 2;\n// 𝄞\nconst b = 2;\n' },
      { line: 4, what: 'add 1 to the constant', text: '// ü €\nconst a = 1;\n// 𝄞\nconst b = 3;\n' },
    ]);
  });
});
