import { expect, test } from '@jest/globals';
import { parseNetworks, parseProxyVersions } from '../../../../src/core/text/proxy-protocol.ts';
import { expectsHeader, versionFor } from '../../../../src/proxy/proxy-protocol/settings.ts';

test.each([
  ['10.1.2.3', true],
  ['11.0.0.0', false],
  ['2001:db8::9', true],
  ['2001:db9::', false],
  ['::1', false],
  ['unknown', false],
])('a header is expected from %s: %j', (address, expected) => {
  const networks = parseNetworks('10.0.0.0/8, 2001:db8::/32');
  expect(networks.ok && expectsHeader({ accept: networks.value }, address)).toBe(expected);
  expect(expectsHeader({}, address)).toBe(false);
});

test('the version of a port goes before that of all ports', () => {
  const parsed = parseProxyVersions('v2, 25=v1');
  const send = parsed.ok ? parsed.value : undefined;
  expect([25, 80].map((port) => versionFor({ ...(send && { send }) }, port))).toEqual(['v1', 'v2']);
  expect(versionFor({}, 25)).toBeUndefined();
});
