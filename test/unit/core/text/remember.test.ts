import { describe, expect, test } from '@jest/globals';
import { remember } from '../../../../src/core/text/remember.ts';

describe('remember', () => {
  test('asks once for a text, whatever comes out', () => {
    const asked: string[] = [];
    const length = remember((text) => {
      asked.push(text);
      return text === '' ? undefined : text.length;
    });
    expect([length('a'), length(''), length('a'), length('')]).toEqual([1, undefined, 1, undefined]);
    expect(asked).toEqual(['a', '']);
  });

  test('does not keep long texts, nor ever more short ones', () => {
    const asked: string[] = [];
    const itself = remember((text) => {
      asked.push(text);
      return text;
    });
    const long = 'a'.repeat(300);
    for (const text of [long, long, ...Array.from({ length: 1_001 }, (_, position) => String(position)), '0'])
      expect(itself(text)).toBe(text);
    expect(asked.filter((text) => text === long)).toHaveLength(2);
    expect(asked.filter((text) => text === '0')).toHaveLength(2);
  });
});
