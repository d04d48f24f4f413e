import { describe, expect, test } from '@jest/globals';
import { Trie } from '../../../../src/core/routing/trie.ts';

function trieOf(...paths: readonly string[]): Trie<string> {
  const trie = new Trie<string>();
  for (const path of paths) trie.ensure(path.split('/'), () => path);
  return trie;
}

describe('Trie', () => {
  test('finds the values at all beginnings, the longest first', () => {
    expect(trieOf('a', 'a/b/c', 'a/x').along(['a', 'b', 'c', 'd'])).toEqual(['a/b/c', 'a']);
    expect(trieOf('a/b').along(['a'])).toEqual([]);
  });

  test.each(['', '/', 'a', 'a/', 'a/b', 'a//b', '/a/b/', 'x/y', 'a/b/c/d'])(
    'finds the same for the path %j',
    (path) => {
      const trie = trieOf('', 'a', 'a/', 'a/b', 'a//b', '/a', '/a/b/');
      expect(trie.alongPath(path)).toEqual(trie.along(path.split('/')));
    },
  );

  test('keeps the value that is there', () => {
    const trie = trieOf('a');
    expect(trie.ensure(['a'], () => 'new')).toBe('a');
    expect(trie.get(['a'])).toBe('a');
    expect(trie.get(['b'])).toBeUndefined();
  });

  test('removing frees the nodes that led to nothing else', () => {
    const trie = trieOf('a/b/c', 'a/b');
    trie.remove(['a', 'b', 'c']);
    expect(trie.along(['a', 'b', 'c'])).toEqual(['a/b']);
    trie.remove(['a']);
    expect(trie.get(['a', 'b'])).toBe('a/b');
    trie.remove(['a', 'b']);
    trie.remove(['never', 'there']);
    expect(trie.isEmpty).toBe(true);
  });

  test('segments named like members of Object are ordinary', () => {
    expect(trieOf('a').along(['__proto__'])).toEqual([]);
    expect(trieOf('__proto__/constructor').along(['__proto__', 'constructor'])).toEqual(['__proto__/constructor']);
  });
});
