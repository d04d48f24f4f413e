import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { array, assert, constant, integer, oneof, property, string } from 'fast-check';
import {
  contains,
  familyOf,
  formatAddressRange,
  formatIpAddress,
  isRemoteAddress,
  parseAddressRange,
  parseIpAddress,
} from '../../../../src/core/text/ip-address.ts';

const octets = array(integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 }).map((parts) => parts.join('.'));
const groups = array(oneof(constant(0), integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 }).map(
  (parts) => parts.map((part) => part.toString(16)).join(':'),
);

describe('IP addresses', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.000.002.001', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['10:0:0:10:100::', '10:0:0:10:100::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('%s is written %s', (text, canonical) => {
    expect(formatIpAddress(parseIpAddress(text) ?? -1n)).toBe(canonical);
  });

  test.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-4',
    '1.2.3.x',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '[::1]',
    'fe80::1%eth0',
    '::1.2.3.256',
    '1.2.3.4::',
    ' 1.2.3.4',
  ])('"%s" is none', (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });

  test('are read as Node reads them, and written as it writes them', () => {
    assert(
      property(oneof(octets, groups), (text) => {
        const address = parseIpAddress(text);
        if (address === undefined) throw new Error(`${text} is not read`);
        const written = formatIpAddress(address);
        expect(familyOf(address)).toBe(isIPv4(written) ? 'IPv4' : 'IPv6');
        expect(parseIpAddress(written)).toBe(address);
        // Node writes the end of some in decimal.
        const theirs = isIPv6(text) ? new SocketAddress({ family: 'ipv6', address: text }).address : text;
        if (isIPv6(written) && !theirs.includes('.')) expect(written).toBe(theirs);
      }),
    );
  });

  test('nothing throws on any text', () => {
    assert(
      property(string(), (text) => {
        const isRead = parseIpAddress(text) !== undefined;
        expect(isRead && !isIPv4(text.replaceAll(/\b0+(?=\d)/g, '')) && !isIPv6(text)).toBe(false);
        expect(typeof parseAddressRange(text).ok).toBe('boolean');
      }),
    );
  });
});

describe('ranges of addresses', () => {
  test.each([
    ['192.0.2.0/28', '192.0.2.0', '192.0.2.15', '192.0.2.0/28'],
    ['0.0.0.0/0', '0.0.0.0', '255.255.255.255', '0.0.0.0/0'],
    ['192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['192.0.2.10-192.0.2.20', '192.0.2.10', '192.0.2.20', '192.0.2.10-192.0.2.20'],
    ['192.0.2.8-192.0.2.15', '192.0.2.8', '192.0.2.15', '192.0.2.8/29'],
    ['2001:db8::/120', '2001:db8::', '2001:db8::ff', '2001:db8::/120'],
    ['2001:db8::10-2001:db8::1e', '2001:db8::10', '2001:db8::1e', '2001:db8::10-2001:db8::1e'],
    ['::/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::/0'],
  ])('%s goes from %s to %s', (text, first, last, written) => {
    const parsed = parseAddressRange(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    expect([parsed.range.first, parsed.range.last].map(formatIpAddress)).toEqual([first, last]);
    expect(formatAddressRange(parsed.range)).toBe(written);
  });

  test.each([
    ['', '"" is not an IP address. Use a network or a range, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f'],
    ['192.0.2.0/33', 'prefix length "33" is not between 0 and 32'],
    ['192.0.2.0/', 'prefix length "" is not between 0 and 32'],
    ['2001:db8::/129', 'prefix length "129" is not between 0 and 128'],
    ['192.0.2.5/28', '192.0.2.5 is not the first address of the network. Use 192.0.2.0/28, or 192.0.2.5-192.0.2.15'],
    ['192.0.2.9-192.0.2.5', 'its last address is before its first. Use 192.0.2.5-192.0.2.9'],
    ['192.0.2.9-2001:db8::1', 'its first and last addresses are of different families'],
    ['192.0.2.9-', '"" is not an IP address'],
    ['pool', '"pool" is not an IP address'],
  ])('"%s" is none: %s', (text, problem) => {
    expect(parseAddressRange(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test('hold what lies between their ends, of their own family', () => {
    const [network, all] = ['192.0.2.8/29', '::/0'].map((text) => parseAddressRange(text));
    const holds = (range: typeof network, text: string) =>
      range?.ok === true && contains(range.range, parseIpAddress(text) ?? -1n);
    expect(['192.0.2.7', '192.0.2.8', '192.0.2.15', '192.0.2.16', '::1'].map((text) => holds(network, text))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(['192.0.2.8', '2001:db8::1'].map((text) => holds(all, text))).toEqual([false, true]);
  });
});

describe('addresses of other machines', () => {
  test.each(['10.0.0.1', '192.168.1.1', '100.64.0.1', '223.255.255.255', 'fd00::1', '2001:db8::1', '::2', 'fec0::1'])(
    '%s is one',
    (address) => {
      expect(isRemoteAddress(address)).toBe(true);
    },
  );

  test.each([
    '0.0.0.0',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'febf::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '',
    'localhost',
    '10.0.0',
    '[2001:db8::1]',
    'fe80::1%eth0',
  ])('%j is none', (address) => {
    expect(isRemoteAddress(address)).toBe(false);
  });
});
