import { describe, expect, test } from '@jest/globals';
import type { PrefixRelation } from '../../../../src/core/patterns/prefix.ts';
import { compilePattern } from '../../../../src/core/patterns/pattern.ts';

function relation(text: string, prefix: string): PrefixRelation {
  const compiled = compilePattern(text);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.pattern.comparePrefixes().relationTo(prefix);
}

describe('the relation of a pattern to a path prefix', () => {
  test.each<readonly [string, PrefixRelation]>([
    ['/cart', 'within'],
    ['/cart/', 'within'],
    ['/cart(/.*)?', 'within'],
    ['^/cart/[0-9]+$', 'within'],
    ['/cart/(a|b)', 'within'],
    ['/cart.*', 'overlapping'],
    ['/ca.*', 'overlapping'],
    ['/(?i:cart)/x', 'overlapping'],
    ['/ca[a-z]t/x', 'overlapping'],
    ['/(cart|list)/x', 'overlapping'],
    ['/(cart/x)?', 'overlapping'],
    ['.*', 'overlapping'],
    ['/carts', 'disjoint'],
    ['/car', 'disjoint'],
    ['/list/.*', 'disjoint'],
    ['/[^c].*', 'disjoint'],
    ['', 'disjoint'],
  ])('%j to /cart is %s', (text, expected) => {
    expect(relation(text, '/cart')).toBe(expected);
  });

  test('every text that a pattern accepts has the relation', () => {
    const texts = ['/cart', '/cart/', '/cart/x', '/carts', '/car', '/list', '/', ''];
    const patterns = [
      '/cart(/x)?',
      '/cart.*',
      '/[a-z]+',
      '/(list|carts)',
      '/cart/|/list',
      '(/cart)?',
      String.raw`/c\w*`,
    ];
    for (const pattern of patterns) {
      const below = new Set(texts.filter((text) => text === '/cart' || text.startsWith('/cart/')));
      const accepted = texts.filter((text) => {
        const compiled = compilePattern(pattern);
        return compiled.ok && compiled.pattern.matches(text);
      });
      const expected = accepted.every((text) => below.has(text))
        ? 'within'
        : accepted.some((text) => below.has(text))
          ? 'overlapping'
          : 'disjoint';
      expect([pattern, relation(pattern, '/cart')]).toEqual([pattern, expected]);
    }
  });
});
