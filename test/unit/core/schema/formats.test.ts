import { describe, expect, test } from '@jest/globals';
import { formats } from '../../../../src/core/schema/formats.ts';

describe('formats', () => {
  // Zeros in front and IPv4 at the end of IPv6: found by make differential.
  test.each([
    '192.0.2.1',
    '0.0.0.0',
    '255.255.255.255',
    '01.2.3.4',
    '000.00.0.0255',
    '::ffff:192.0.2.1',
    '::ffff:192.0.2.01',
  ])('ipv4 %s', (text) => expect(formats.ipv4.validate(text)).toBe(true));
  test.each(['256.0.0.1', '1.2.3', '0256.0.0.1', '1.2.3.4.5', '1.2.3.4 ', '::1', ''])('not ipv4 %j', (text) => {
    expect(formats.ipv4.validate(text)).toBe(false);
  });
  test.each([
    '::',
    '::1',
    '2001:db8::1',
    '1:2:3:4:5:6:7:8',
    'FE80::A',
    '::ffff:192.0.2.1',
    '1:2:3:4:5:6:192.0.2.1',
    '1::',
  ])('ipv6 %s', (text) => {
    expect(formats.ipv6.validate(text)).toBe(true);
  });
  test.each([
    '',
    ':',
    '1',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    'g::',
    '12345::',
    '[::1]',
    'fe80::1%eth0',
    '192.0.2.1',
    '::ffff:192.0.2.01',
  ])('not ipv6 %j', (text) => {
    expect(formats.ipv6.validate(text)).toBe(false);
  });
  test.each(['2026-01-31T12:00:00Z', '2026-01-31t12:00:00.123456789+01:00'])('date-time %s', (text) => {
    expect(formats['date-time'].validate(text)).toBe(true);
  });
  test.each(['2026-01-31', '2026-13-01T00:00:00Z', '2026-01-31T25:00:00Z', '2026-01-31T12:00:00'])(
    'not date-time %s',
    (text) => {
      expect(formats['date-time'].validate(text)).toBe(false);
    },
  );
  test.each(['', 'YQ==', 'YWI=', 'YWJj'])('byte %j', (text) => expect(formats.byte.validate(text)).toBe(true));
  test.each(['a', 'YQ=', '****'])('not byte %j', (text) => expect(formats.byte.validate(text)).toBe(false));
  test('integers', () => {
    expect([2 ** 31 - 1, -(2 ** 31), 2 ** 31, -(2 ** 31) - 1].map((value) => formats.int32.validate(value))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([Number.MAX_SAFE_INTEGER, 2 ** 53].map((value) => formats.int64.validate(value))).toEqual([true, false]);
  });
});
