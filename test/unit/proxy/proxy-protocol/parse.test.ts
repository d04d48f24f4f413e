import { describe, expect, test } from '@jest/globals';
import { crc32c } from '../../../../src/proxy/proxy-protocol/crc32c.ts';
import { parseProxyHeader } from '../../../../src/proxy/proxy-protocol/parse.ts';
import { field, v2, withChecksum } from '../../../support/proxy-protocol.ts';

const limit = 4_096;
const parse = (header: Buffer | string) => parseProxyHeader(Buffer.from(header as string, 'latin1'), limit);
const tcp4 = v2(0x21, 0x11, 'c0000207c6336401d90301bb');
const origin4 = { client: { host: '192.0.2.7', port: 55_555 }, destination: { host: '198.51.100.1', port: 443 } };

test('CRC-32C has the check value of its definition', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe306_9283);
});

describe('version 1', () => {
  test.each([
    ['PROXY TCP4 192.0.2.7 198.51.100.1 55555 443\r\n', origin4],
    [
      'PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n',
      { client: { host: '255.255.255.255', port: 65_535 }, destination: { host: '255.255.255.255', port: 65_535 } },
    ],
    [
      'PROXY TCP6 2001:DB8:0::7 2001:db8::1 1 0\r\n',
      { client: { host: '2001:db8::7', port: 1 }, destination: { host: '2001:db8::1', port: 0 } },
    ],
    [
      'PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n',
      { client: { host: '192.0.2.7', port: 1 }, destination: { host: '::1', port: 2 } },
    ],
    ['PROXY UNKNOWN\r\n', undefined],
    ['PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n', undefined],
  ])('reads %j', (header, origin) => {
    expect(parse(header)).toEqual({ length: header.length, origin });
    expect(parse(`${header}GET / HTTP/1.1\r\n`)).toEqual({ length: header.length, origin });
    for (let split = 0; split < header.length; split += 1) expect(parse(header.slice(0, split))).toBeUndefined();
  });

  test('the longest line is read', () => {
    const line = `PROXY UNKNOWN ${'x'.repeat(107 - 16)}\r\n`;
    expect(line).toHaveLength(107);
    expect(parse(line)).toEqual({ length: 107, origin: undefined });
    expect(parse(`PROXY UNKNOWN ${'x'.repeat(108 - 16)}\r\n`)).toBe('too-long');
    expect(parse('PROXY UNKNOWN '.padEnd(106, 'x'))).toBeUndefined();
  });

  test.each([
    'GET / HTTP/1.1\r\n',
    'PROXX',
    'proxy TCP4 ',
    '\x16\x03\x01',
    'PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY \r\n',
    'PROXY __proto__ 1 1 1 1\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n',
    'PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n',
    'PROXY TCP4\t1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n\r\n',
    'PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n',
    'PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    'PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
    'PROXY TCP6 ::1::2 ::1 1 2\r\n',
  ])('%j is malformed', (header) => {
    expect(parse(header)).toBe('malformed');
  });
});

describe('version 2', () => {
  const addresses6 = '20010db800000000000000000000000720010db800000000000000000000000100010002';
  test.each([
    ['TCP over IPv4', tcp4, origin4],
    [
      'TCP over IPv6',
      v2(0x21, 0x21, addresses6),
      { client: { host: '2001:db8::7', port: 1 }, destination: { host: '2001:db8::1', port: 2 } },
    ],
    [
      'fields behind the addresses',
      v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0x01, '6832')}${field(0x04, '')}${field(0xea, '00ff')}`),
      origin4,
    ],
    [
      'a checksum',
      withChecksum(
        v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0x02, '61')}${field(0x03, '00000000')}${field(0x04, '00')}`),
        35,
      ),
      origin4,
    ],
    ['LOCAL', v2(0x20, 0x00, ''), undefined],
    ['LOCAL with anything behind it', v2(0x20, 0xff, 'ffffff'), undefined],
    ['an unknown family', v2(0x21, 0x00, ''), undefined],
    ['an unknown family with anything behind it', v2(0x21, 0x00, 'ff'), undefined],
    ['UDP', v2(0x21, 0x12, 'c0000207c6336401d90301bb'), undefined],
    ['UDP over IPv6', v2(0x21, 0x22, addresses6), undefined],
    ['Unix sockets', v2(0x21, 0x31, '00'.repeat(216)), undefined],
  ])('reads %s', (_name, header, origin) => {
    expect(parse(header)).toEqual({ length: header.length, origin });
    expect(parse(Buffer.concat([header, header]))).toEqual({ length: header.length, origin });
    for (let split = 0; split < header.length; split += 1) expect(parse(header.subarray(0, split))).toBeUndefined();
  });

  test.each([
    ['version 1 in binary', v2(0x11, 0x11, 'c0000207c6336401d90301bb')],
    ['a command that does not exist', v2(0x22, 0x11, 'c0000207c6336401d90301bb')],
    ['a family that does not exist', v2(0x21, 0x41, 'c0000207c6336401d90301bb')],
    ['a transport that does not exist', v2(0x21, 0x13, 'c0000207c6336401d90301bb')],
    ['addresses that do not fit', v2(0x21, 0x11, 'c0000207c6336401d90301')],
    ['addresses of IPv6 that do not fit', v2(0x21, 0x21, 'c0000207c6336401d90301bb')],
    ['a field that is cut off', v2(0x21, 0x11, 'c0000207c6336401d90301bb0100')],
    ['a field that is longer than the header', v2(0x21, 0x11, 'c0000207c6336401d90301bb01000268')],
    ['a wrong checksum', v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0x03, '00000001')}`)],
    ['a checksum of another length', v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0x03, '000000')}`)],
    ['another end of the start', Buffer.concat([tcp4.subarray(0, 11), Buffer.from('!'), tcp4.subarray(12)])],
  ])('%s is malformed', (_name, header) => {
    expect(parse(header)).toBe('malformed');
  });

  test('a header beyond the limit is rejected before it has come', () => {
    const header = v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0xea, '00'.repeat(limit - 16 - 12 - 3))}`);
    expect(header).toHaveLength(limit);
    expect(parse(header)).toEqual({ length: limit, origin: origin4 });
    const longer = v2(0x21, 0x11, `c0000207c6336401d90301bb${field(0xea, '00'.repeat(limit - 16 - 12 - 2))}`);
    expect(parse(longer.subarray(0, 16))).toBe('too-long');
  });
});
