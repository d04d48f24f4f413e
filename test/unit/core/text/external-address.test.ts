import { describe, expect, test } from '@jest/globals';
import { isExternalAddress } from '../../../../src/core/text/external-address.ts';
import { parseNetworks } from '../../../../src/core/text/proxy-protocol.ts';

const none = { internal: [], allowed: [] };

function ranges(text: string) {
  const parsed = parseNetworks(text);
  return parsed.ok ? parsed.value : [];
}

describe('external addresses', () => {
  test.each([
    ['1.1.1.1'],
    ['9.255.255.255'],
    ['11.0.0.0'],
    ['100.63.255.255'],
    ['100.128.0.0'],
    ['172.15.255.255'],
    ['172.32.0.0'],
    ['192.167.255.255'],
    ['223.255.255.255'],
    ['2606:4700:4700::1111'],
    ['2001:4860:4860::8888'],
    ['::ffff:1.1.1.1'],
    ['64:ff9b::1.1.1.1'],
  ])('%s', (address) => {
    expect(isExternalAddress(address, none)).toBe(true);
  });

  test.each([
    ['0.0.0.0'],
    ['10.0.0.1'],
    ['100.64.0.1'],
    ['100.100.100.200'],
    ['127.0.0.1'],
    ['127.255.255.255'],
    ['168.63.129.16'],
    ['169.254.169.254'],
    ['172.16.0.1'],
    ['172.31.255.255'],
    ['192.0.0.192'],
    ['192.0.2.1'],
    ['192.168.1.1'],
    ['198.18.0.1'],
    ['203.0.113.1'],
    ['224.0.0.1'],
    ['240.0.0.1'],
    ['255.255.255.255'],
    ['::'],
    ['::1'],
    ['::127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['::ffff:0:10.0.0.1'],
    ['64:ff9b::127.0.0.1'],
    ['64:ff9b::a00:1'],
    ['64:ff9b:1::1.1.1.1'],
    ['100::1'],
    ['2001::1'],
    ['2001:db8::1'],
    ['2002:7f00:1::'],
    ['3fff::1'],
    ['fc00::1'],
    ['fd00:ec2::254'],
    ['fe80::1'],
    ['fec0::1'],
    ['ff02::1'],
    ['localhost'],
    ['fe80::1%eth0'],
    [''],
  ])('not %j', (address) => {
    expect(isExternalAddress(address, none)).toBe(false);
  });

  test('networks can be allowed, also in other notations of their addresses', () => {
    const allowed = { internal: ranges('10.1.0.0/16'), allowed: ranges('10.1.0.0/16') };
    expect(isExternalAddress('10.1.2.3', allowed)).toBe(true);
    expect(isExternalAddress('::ffff:10.1.2.3', allowed)).toBe(true);
    expect(isExternalAddress('64:ff9b::10.1.2.3', allowed)).toBe(true);
    expect(isExternalAddress('10.2.0.1', allowed)).toBe(false);
  });

  test('further networks can be internal', () => {
    const internal = { internal: ranges('1.2.0.0/16, 2a00:1::/32'), allowed: [] };
    expect(isExternalAddress('1.2.3.4', internal)).toBe(false);
    expect(isExternalAddress('64:ff9b::1.2.3.4', internal)).toBe(false);
    expect(isExternalAddress('2a00:1::5', internal)).toBe(false);
    expect(isExternalAddress('1.3.0.0', internal)).toBe(true);
  });
});
