import { describe, expect, test } from '@jest/globals';
import { literalsOf } from '../../../tools/literals.ts';

const texts = (code: string): readonly string[] => literalsOf(code).map(({ text }) => text);

describe('literalsOf', () => {
  test.each<[string, readonly string[]]>([
    ['const a = \'one\'; const b = "two";', ['one', 'two']],
    ["const a = 'it\\'s';", ["it's"]],
    ['const a = `one ${b} two`;', ['one ${b} two']],
    [
      "const a = `one ${b === '}' ? 'two' : `three ${c}`} four`;",
      ["one ${b === '}' ? 'two' : `three ${c}`} four", '}', 'two', 'three ${c}'],
    ],
    ["// 'comment'\n/* 'another' */ const a = 'one';", ['one']],
    ["const a = /['\"`/]\\/'/.test('one');", ['one']],
    ["const a = b / c; const d = 'one' / 2;", ['one']],
    ["const a = 'never closed", ['never closed']],
    ['', []],
  ])('%j', (code, expected) => {
    expect(texts(code)).toEqual(expected);
  });

  test('says what stands before a literal', () => {
    expect(literalsOf("a;\n  source: 'one'")).toEqual([{ text: 'one', before: '  source: ' }]);
  });
});
