import { networkInterfaces } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { reachableAt, StandaloneAddresses, type Placed } from '../../../../src/cli/standalone/addresses.ts';
import type { Address } from '../../../../src/proxy/sockets/address.ts';

/** The one address of a listener. */
function bound(addresses: StandaloneAddresses, placed: Placed): Address {
  const [address, ...others] = addresses.addressesOf(placed);
  if (address === undefined || others.length > 0) throw new Error('not one address');
  return address;
}

describe('addresses of Gateways on one machine', () => {
  test('every Gateway has an address of its own, so that both may use one port', () => {
    const addresses = new StandaloneAddresses(true, { requested: () => [] });
    expect(bound(addresses, { gateway: 'infra/one', port: 8443 })).toEqual({ host: '127.0.1.1', port: 8443 });
    expect(bound(addresses, { gateway: 'infra/two', port: 8443 })).toEqual({ host: '127.0.1.2', port: 8443 });
  });

  test('privileged ports move up', () => {
    const addresses = new StandaloneAddresses(true, { requested: () => [] });
    expect(bound(addresses, { gateway: 'infra/one', port: 80 })).toEqual({ host: '127.0.1.1', port: 8080 });
  });

  test('the same question has the same answer', () => {
    const addresses = new StandaloneAddresses(true, { requested: () => [] });
    const first = bound(addresses, { gateway: 'infra/one', port: 80 });
    bound(addresses, { gateway: 'infra/two', port: 80 });
    expect(bound(addresses, { gateway: 'infra/one', port: 80 })).toEqual(first);
  });

  test('ports of one Gateway that would fall together stay apart', () => {
    const addresses = new StandaloneAddresses(true, { requested: () => [] });
    expect(bound(addresses, { gateway: 'infra/one', port: 80 }).port).toBe(8080);
    expect(bound(addresses, { gateway: 'infra/one', port: 8080 }).port).toBe(9080);
    expect(bound(addresses, { gateway: 'infra/one', port: 9080 }).port).toBe(10_080);
  });

  test('with one loopback address Gateways are told apart by port', () => {
    const addresses = new StandaloneAddresses(false, { requested: () => [] });
    expect(bound(addresses, { gateway: 'infra/one', port: 80 })).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(bound(addresses, { gateway: 'infra/two', port: 80 })).toEqual({ host: '127.0.0.1', port: 9080 });
  });

  test('there is an address at the end of the port range too', () => {
    const addresses = new StandaloneAddresses(false, { requested: () => [] });
    const ports = ['one', 'two', 'three'].map(
      (name) => bound(addresses, { gateway: `infra/${name}`, port: 65_535 }).port,
    );
    expect(new Set(ports).size).toBe(3);
    expect(ports.every((port) => port >= 1024 && port <= 65_535)).toBe(true);
  });
});

describe('addresses that users choose', () => {
  test('a Gateway is bound at each address that it requests, with the ports of its listeners', () => {
    const addresses = new StandaloneAddresses(true, {
      listen: '0.0.0.0',
      requested: (gateway) => (gateway === 'infra/one' ? ['192.0.2.1', '2001:db8::1'] : []),
    });
    expect(addresses.addressesOf({ gateway: 'infra/one', port: 80 })).toEqual([
      { host: '192.0.2.1', port: 80 },
      { host: '2001:db8::1', port: 80 },
    ]);
    expect(addresses.addressesOf({ gateway: 'infra/two', port: 443 })).toEqual([{ host: '0.0.0.0', port: 443 }]);
  });

  test('a Gateway that no longer requests an address gets its loopback address', () => {
    let requested = ['192.0.2.1'];
    const addresses = new StandaloneAddresses(true, { requested: () => requested });
    expect(bound(addresses, { gateway: 'infra/one', port: 80 }).host).toBe('192.0.2.1');
    requested = [];
    expect(bound(addresses, { gateway: 'infra/one', port: 80 })).toEqual({ host: '127.0.1.1', port: 8080 });
  });

  test('a Gateway that must not be reachable here gets none', () => {
    const addresses = new StandaloneAddresses(true, { requested: () => 'none' });
    expect(addresses.addressesOf({ gateway: 'infra/one', port: 80 })).toEqual([]);
  });

  test('what is bound to an address is reachable there, if this machine has it', () => {
    expect(reachableAt('127.0.7.1')).toEqual(['127.0.7.1']);
    expect(reachableAt('192.0.2.77')).toEqual([]);
    expect(reachableAt('2001:db8::77')).toEqual([]);
  });

  test('what is bound to all addresses is reachable at those that other machines know, or on loopback', () => {
    const own = Object.values(networkInterfaces())
      .flatMap((entries) => entries ?? [])
      .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
    const known = (family?: string) =>
      own.filter((entry) => family === undefined || entry.family === family).map(({ address }) => address);
    const orLoopback = (addresses: readonly string[]) => (addresses.length > 0 ? addresses : ['127.0.0.1']);
    expect(reachableAt('0.0.0.0')).toEqual(orLoopback(known('IPv4')));
    expect(reachableAt('::')).toEqual(orLoopback(known()));
  });
});
