import { describe, expect, test } from '@jest/globals';
import { formatAddressRange } from '../../../../src/core/text/ip-address.ts';
import { longestList, parseNetworks, parseProxyVersions } from '../../../../src/core/text/proxy-protocol.ts';

describe('networks of load balancers', () => {
  test.each([
    ['10.0.0.0/8', ['10.0.0.0/8']],
    [' 10.0.0.0/8,2001:db8::/32 , 192.0.2.7', ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']],
    ['192.0.2.10-192.0.2.20', ['192.0.2.10-192.0.2.20']],
    ['0.0.0.0/0, ::/0', ['0.0.0.0/0', '::/0']],
  ])('%j are read', (text, expected) => {
    const parsed = parseNetworks(text);
    expect(parsed.ok && parsed.value.map(formatAddressRange)).toEqual(expected);
  });

  test.each([
    ['', 'an entry is empty. Use networks such as 10.0.0.0/8, 2001:db8::/32'],
    ['10.0.0.0/8,', 'an entry is empty. Use networks such as 10.0.0.0/8, 2001:db8::/32'],
    [
      '10.0.0.0/8 10.0.0.1',
      'prefix length "8 10.0.0.1" is not between 0 and 32. Use a network or a range, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f',
    ],
    ['10.0.0.5/8', '10.0.0.5 is not the first address of the network. Use 10.0.0.0/8, or 10.0.0.5-10.255.255.255'],
    [
      'lb.example.com',
      '"lb.example.com" is not an IP address. Use a network or a range, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f',
    ],
    ['1.1.1.1,'.repeat(200), `the list is longer than ${longestList} characters. Merge neighboring networks`],
  ])('%j are invalid', (text, problem) => {
    expect(parseNetworks(text)).toEqual({ ok: false, problem });
  });
});

describe('versions for backends', () => {
  test.each([
    ['v2', 'v2', []],
    [' v1 ', 'v1', []],
    ['5432=v2', undefined, [[5_432, 'v2']]],
    [
      '25=v1, 65535=v2',
      undefined,
      [
        [25, 'v1'],
        [65_535, 'v2'],
      ],
    ],
    ['v2, 25=v1', 'v2', [[25, 'v1']]],
  ])('%j are read', (text, all, byPort) => {
    const parsed = parseProxyVersions(text);
    expect(parsed.ok && { all: parsed.value.all, byPort: [...parsed.value.byPort] }).toEqual({ all, byPort });
  });

  test.each([
    ['', 'an entry is empty'],
    [
      'v3',
      '"v3" is invalid. Use v1 or v2 for all ports, or versions by the port of the listener such as 25=v1, 5432=v2',
    ],
    ['true', '"true" is invalid'],
    ['V2', '"V2" is invalid'],
    ['0=v1', '"0=v1" is invalid'],
    ['65536=v1', '"65536=v1" is invalid'],
    ['25:v1', '"25:v1" is invalid'],
    ['25=v1,25=v2', 'port 25 is a duplicate. Keep one of the entries'],
    ['v1,v2', 'the version for all ports is a duplicate. Keep one of the entries'],
  ])('%j are invalid', (text, problem) => {
    expect(parseProxyVersions(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});
