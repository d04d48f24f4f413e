import { describe, expect, test } from '@jest/globals';
import type { HeaderFilter } from '../../../../../src/core/routing/config.ts';
import { compileHeaderEdits, editFields } from '../../../../../src/core/routing/decision/header-edits.ts';

const filter = (parts: Partial<HeaderFilter>): HeaderFilter => ({
  type: 'requestHeaders',
  set: [],
  add: [],
  remove: [],
  ...parts,
});
const edit = (fields: readonly string[], ...filters: readonly HeaderFilter[]): string[] =>
  editFields([...fields], compileHeaderEdits(filters, 'requestHeaders'));

describe('header edits', () => {
  test('set replaces every field of the name', () => {
    expect(edit(['A', '1', 'b', '2', 'a', '3'], filter({ set: [{ name: 'a', value: 'x' }] }))).toEqual([
      'b',
      '2',
      'a',
      'x',
    ]);
  });

  test('add leaves what is there', () => {
    expect(edit(['a', '1'], filter({ add: [{ name: 'A', value: 'x' }] }))).toEqual(['a', '1', 'A', 'x']);
  });

  test('remove takes every field of the name', () => {
    expect(edit(['A', '1', 'b', '2', 'a', '3'], filter({ remove: ['a', 'none'] }))).toEqual(['b', '2']);
  });

  test('filters act one after the other', () => {
    expect(edit([], filter({ add: [{ name: 'a', value: '1' }] }), filter({ remove: ['a'] }))).toEqual([]);
    expect(edit([], filter({ remove: ['a'] }), filter({ add: [{ name: 'a', value: '1' }] }))).toEqual(['a', '1']);
  });

  test('those of the other direction and those without effect are left out', () => {
    const edits = compileHeaderEdits(
      [filter({ type: 'responseHeaders', remove: ['a'] }), filter({}), filter({ remove: ['Host'] })],
      'requestHeaders',
    );
    expect(edits).toEqual([]);
  });

  test.each([
    'Connection',
    'content-length',
    'Transfer-Encoding',
    'TE',
    'trailer',
    'Upgrade',
    'Host',
    'Expect',
    'keep-alive',
  ])('%s is not theirs to touch', (name) => {
    const everything = filter({ set: [{ name, value: 'x' }], add: [{ name, value: 'x' }], remove: [name] });
    expect(edit([name, '1'], everything)).toEqual([name, '1']);
  });
});
