import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { cleanAuditAnnotations, cleanText, cleanWarnings } from '../../../src/webhook/limits.ts';

const runes = (text: string) => Array.from(text).length;
const anyText = fc.string({ unit: 'binary', maxLength: 600 });

describe('cleanText', () => {
  test.each([
    ['a\r\nb', 'a b'],
    ['\u0000a\u007f\u0085b\u2028', 'a b'],
    ['a\u202eb', 'a b'],
    ['a\ud800b', 'a\ufffdb'],
    ['naïve 🚀 text', 'naïve 🚀 text'],
  ])('%j becomes %j', (text, clean) => expect(cleanText(text)).toBe(clean));
});

describe('cleanWarnings', () => {
  test('keeps order and drops repetitions, also those that only cleaning makes', () => {
    expect(cleanWarnings(['b', 'a', 'b', 'a\n', '', '\n'])).toEqual(['b', 'a']);
  });

  test('cuts at 256 runes, not inside a character', () => {
    const [warning = ''] = cleanWarnings(['🚀'.repeat(300)]);
    expect(warning).toBe(`${'🚀'.repeat(255)}…`);
    expect(cleanWarnings(['🚀'.repeat(256)])).toEqual(['🚀'.repeat(256)]);
  });

  test('says how many had to go', () => {
    const many = Array.from({ length: 50 }, (_, position) => `rule-${position} ${'x'.repeat(250)}`.slice(0, 256));
    const clean = cleanWarnings(many);
    expect(clean.slice(0, -1)).toEqual(many.slice(0, 15));
    expect(clean.at(-1)).toBe('+35 more: run `sallyport check` on the object to see all');
  });

  test('the API server drops and cuts none: no control characters, at most 256 runes each and 4096 together', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 60 }), (warnings) => {
        const clean = cleanWarnings(warnings);
        expect(clean.join('')).not.toMatch(/\p{Cc}/u);
        expect(Math.max(0, ...clean.map(runes))).toBeLessThanOrEqual(256);
        expect(clean.reduce((sum, warning) => sum + runes(warning), 0)).toBeLessThanOrEqual(4096);
        expect(new Set(clean).size).toBe(clean.length);
        expect(clean).not.toContain('');
      }),
    );
  });

  test('changes nothing on the second time, where all fit', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 6 }), (warnings) =>
        expect(cleanWarnings(cleanWarnings(warnings))).toEqual(cleanWarnings(warnings)),
      ),
    );
  });
});

describe('cleanAuditAnnotations', () => {
  test.each([
    ['denied-rules', 'denied-rules'],
    ['rule/path one', 'rule-path-one'],
    ['.a_', 'a'],
    ['a'.repeat(62) + '--b', 'a'.repeat(62)],
  ])('the key %j becomes %j', (key, clean) => expect(cleanAuditAnnotations({ [key]: 'v' })).toEqual({ [clean]: 'v' }));

  test('drops a key of which nothing is left', () => expect(cleanAuditAnnotations({ '../': 'v' })).toEqual({}));

  test('cuts values at 10 KiB, not inside a character', () => {
    const { a = '' } = cleanAuditAnnotations({ a: 'é'.repeat(6000) });
    expect(Buffer.byteLength(a)).toBeLessThanOrEqual(10_240);
    expect(a).toMatch(/^é{5118}…$/);
    expect(cleanAuditAnnotations({ a: 'é'.repeat(5120) })).toEqual({ a: 'é'.repeat(5120) });
  });

  test('every key is the name part of a qualified name, every value fits', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (annotations) => {
        for (const [key, value] of Object.entries(cleanAuditAnnotations(annotations))) {
          expect(key).toMatch(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
          expect(Buffer.byteLength(value)).toBeLessThanOrEqual(10_240);
        }
      }),
    );
  });
});
