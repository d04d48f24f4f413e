import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isDay } from '../../../../src/core/text/day.ts';

describe('a day', () => {
  test.each(['2026-12-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31', '2026-04-30'])(
    'valid: %s',
    (text) => {
      expect(isDay(text)).toBe(true);
    },
  );

  test.each([
    '',
    '2026-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-00-10',
    '2026-13-01',
    '2026-01-00',
    '2026-1-1',
    '31.12.2026',
    '2026-12-31T00:00:00Z',
    ' 2026-12-31',
    '2026-12-31\n',
    '٢٠٢٦-١٢-٣١',
  ])('invalid: %j', (text) => {
    expect(isDay(text)).toBe(false);
  });

  test('agrees with the calendar of the language', () => {
    fc.assert(
      fc.property(
        fc.nat(9999),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 31 }),
        (year, month, day) => {
          const text = [
            String(year).padStart(4, '0'),
            ...[month, day].map((part) => String(part).padStart(2, '0')),
          ].join('-');
          const date = new Date(`${text}T00:00:00Z`);
          expect(isDay(text)).toBe(!Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text);
        },
      ),
    );
  });
});
