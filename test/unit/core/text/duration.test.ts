import { describe, expect, jest, test } from '@jest/globals';
import { formatDuration, isStandardForm, millisecondsOf, parseDuration } from '../../../../src/core/text/duration.ts';

test('a text that is far too long gets no probable meaning', () => {
  expect(parseDuration('1h'.repeat(200))).toEqual({
    ok: false,
    problem: 'it has more than 4 parts. Add parts of the same unit together, for example 3h for 1h2h',
  });
});

describe('parseDuration reads what GEP-2257 allows', () => {
  test.each([
    ['1h', 3_600_000],
    ['5m', 300_000],
    ['10s', 10_000],
    ['500ms', 500],
    ['1h5m', 3_900_000],
    ['1h30m30s500ms', 5_430_500],
    ['1s500ms', 1_500],
    ['1h500ms', 3_600_500],
    // Leading zeroes do not mean octal.
    ['01h', 3_600_000],
    ['60m', 3_600_000],
    ['00060m', 3_600_000],
    ['010s', 10_000],
    // Units may repeat and come in any order.
    ['1h2h20m10m', 12_600_000],
    ['30m1h', 5_400_000],
    ['1ms1m', 60_001],
    ['1m1ms', 60_001],
    // Zero in any unit.
    ['0s', 0],
    ['0h', 0],
    ['0m', 0],
    ['0ms', 0],
    ['00000s', 0],
    ['0h0m0s0ms', 0],
    ['99999h99999h99999h99999h', 4 * 99_999 * 3_600_000],
  ])('%s', (text, milliseconds) => {
    expect(parseDuration(text)).toEqual({ ok: true, milliseconds });
  });
});

const wrong: readonly (readonly [string, string])[] = [
  ['', 'it is empty. Use a number and a unit, for example 10s, or 0s for zero'],
  ['0', 'the number "0" has no unit. Use 0s'],
  ['30', 'the number "30" has no unit. Use h, m, s or ms after it, for example 30s for seconds'],
  ['1234567', 'the number "1234567" has no unit. Use h, m, s or ms after it, for example 10s for seconds'],
  ['1h30', 'the number "30" has no unit. Use h, m, s or ms after it, for example 30s for seconds'],
  ['s', 'the unit "s" has no number before it. Use a number before each unit, for example 1s'],
  ['h1m', 'the unit "h" has no number before it. Use a number before each unit, for example 1h'],
  ['forever', 'the unit "forever" has no number before it. Use a number before each unit, for example 1s'],
  ['1d', 'the unit "d" is larger than an hour. Use "24h"'],
  ['2w', 'the unit "w" is larger than an hour. Use "336h"'],
  ['1y', 'the unit "y" is larger than an hour. Use hours, for example 24h for a day'],
  ['5000us', 'the unit "us" is finer than a millisecond. Use "5ms"'],
  ['1µs', 'the unit "µs" is finer than a millisecond. Use whole milliseconds, for example 1ms'],
  ['1μs', 'the unit "μs" is finer than a millisecond. Use whole milliseconds, for example 1ms'],
  ['3000000ns', 'the unit "ns" is finer than a millisecond. Use "3ms"'],
  ['1H', 'the unit "H" is in upper case. Use h'],
  ['1M', 'the unit "M" is in upper case. Use m'],
  ['1Ms', 'the unit "Ms" is in upper case. Use ms'],
  ['5min', 'the unit "min" is unknown. Use "5m"'],
  ['1hour', 'the unit "hour" is unknown. Use "1h"'],
  ['1hm', 'the unit "hm" is unknown. Use h, m, s or ms'],
  ['1.5h', 'fractions are not allowed. Use "1h30m"'],
  ['0.1s', 'fractions are not allowed. Use "100ms"'],
  ['1,5s', 'fractions are not allowed. Use "1s500ms"'],
  ['.5s', 'fractions are not allowed. Use a smaller unit, for example 1s500ms for 1.5s'],
  ['-1s', 'a duration cannot be negative. Remove the sign, or use 0s for zero'],
  ['+1s', 'a duration has no sign. Use "1s"'],
  ['100000ms', 'the number "100000" has more than 5 digits. Use "1m40s"'],
  ['000001s', 'the number "000001" has more than 5 digits. Use "1s"'],
  ['100000h', 'the number "100000" has more than 5 digits. Use a larger unit, for example 100s for 100000ms'],
  ['1h1h1h1h1h', 'it has more than 4 parts. Use "5h"'],
  [
    '99999h99999h99999h99999h1h',
    'it has more than 4 parts. Add parts of the same unit together, for example 3h for 1h2h',
  ],
  [' 1s', 'it contains a space. Use "1s"'],
  ['1 s', 'it contains a space. Use "1s"'],
  ['1h 30m', 'it contains a space. Use "1h30m"'],
  ['1s ', 'it contains a space. Use "1s"'],
  ['1s\t', 'it contains a space. Use "1s"'],
  ['1s\u00a0', 'it contains a space. Use "1s"'],
  ['1s\n', 'it contains a line break. Use "1s"'],
  ['1s\r\n', 'it contains a line break. Use "1s"'],
  ['\n', 'it contains a line break. Write it on one line, without | or > before it'],
  ['١s', '"١" is not an ASCII digit. Use the digits 0 to 9'],
  ['1２s', '"２" is not an ASCII digit. Use the digits 0 to 9'],
  ['1h;', 'the character ";" is not allowed in a duration. Use numbers and units only, for example 1h30m'],
  ['1_s', 'the character "_" is not allowed in a duration. Use numbers and units only, for example 1h30m'],
  ['😀', 'the character "😀" is not allowed in a duration. Use numbers and units only, for example 1h30m'],
  ['1s\0', 'the character "\\u0000" is not allowed in a duration. Use numbers and units only, for example 1h30m'],
];

describe('parseDuration says what to write instead', () => {
  test.each(wrong)('%j', (text, problem) => {
    expect(parseDuration(text)).toEqual({ ok: false, problem });
  });

  test('names a unit behind five good parts by itself', () => {
    expect(parseDuration('1h1h1h1h1x')).toEqual({ ok: false, problem: 'the unit "x" is unknown. Use h, m, s or ms' });
  });

  test('reads a long text only as far as it must', () => {
    expect(parseDuration('1h'.repeat(500_000))).toMatchObject({ ok: false });
    expect(parseDuration('1'.repeat(1_000_000))).toMatchObject({ ok: false });
    expect(parseDuration(`1s${' '.repeat(1_000_000)}`)).toEqual({
      ok: false,
      problem: 'it contains a space. Use "1s"',
    });
  });
});

describe('formatDuration writes the standard form', () => {
  test.each([
    [0, '0s'],
    [-0, '0s'],
    [1, '1ms'],
    [1_000, '1s'],
    [60_000, '1m'],
    [3_600_000, '1h'],
    [86_400_000, '24h'],
    [5_430_500, '1h30m30s500ms'],
    [3_600_500, '1h500ms'],
    [99_999 * 3_600_000 + 3_599_999, '99999h59m59s999ms'],
  ])('%d', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toEqual({ ok: true, text });
  });

  test.each([
    [-1, 'a duration cannot be negative'],
    [0.5, '0.5 is not a whole number of milliseconds'],
    [Number.NaN, 'NaN is not a whole number of milliseconds'],
    [Number.POSITIVE_INFINITY, 'Infinity is not a whole number of milliseconds'],
    [100_000 * 3_600_000, 'it is longer than 99999 hours, which the standard format cannot express'],
  ])('fails for %d', (milliseconds, problem) => {
    expect(formatDuration(milliseconds)).toEqual({ ok: false, problem });
  });
});

test.each(['', '1'])('a unit without end after %j is read in part', (start) => {
  const read = jest.spyOn(RegExp.prototype, 'exec');
  const parsed = parseDuration(`${start}${'İ'.repeat(2_000)}`);
  const lengths = read.mock.results.map(({ value }) => (value as readonly string[] | null)?.[0]?.length ?? 0);
  read.mockRestore();
  expect(parsed).toMatchObject({ problem: expect.stringContaining(`the unit "${'İ'.repeat(15)}…"`) });
  expect(Math.max(...lengths)).toBeLessThan(100);
});

describe('isStandardForm', () => {
  test.each(['0s', '1h', '1h30m', '24h', '1s500ms'])('%s is', (text) => {
    expect(isStandardForm(text)).toBe(true);
  });

  test.each(['0h', '60m', '01h', '30m1h', '90m', '1h1h', '1500ms', '99999h1h', '', 'x'])('%j is not', (text) => {
    expect(isStandardForm(text)).toBe(false);
  });
});

test.each([
  ['1h30m', 5_400_000],
  ['0s', 0],
  ['1.5s', undefined],
  ['', undefined],
  [undefined, undefined],
])('millisecondsOf(%j) is %j', (text, expected) => {
  expect(millisecondsOf(text)).toBe(expected);
});
