import { expect, test } from '@jest/globals';
import { formatAddress, plainPeer } from '../../../../src/proxy/sockets/address.ts';

test('addresses are written with their port, IPv6 in brackets', () => {
  expect([formatAddress('10.0.0.1', 80), formatAddress('::1', 80)]).toEqual(['10.0.0.1:80', '[::1]:80']);
});

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::ffff:1', '::ffff:1'],
  ['fd00::1', 'fd00::1'],
  [undefined, 'unknown'],
])('the peer %j is called %j', (address, name) => {
  expect(plainPeer(address)).toBe(name);
});
