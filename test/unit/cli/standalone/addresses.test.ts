import { describe, expect, test } from '@jest/globals';
import { StandaloneAddresses } from '../../../../src/cli/standalone/addresses.ts';

describe('addresses of Gateways on one machine', () => {
  test('every Gateway has an address of its own, so that both may use one port', () => {
    const addresses = new StandaloneAddresses(true);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 8443 })).toEqual({ host: '127.0.1.1', port: 8443 });
    expect(addresses.addressOf({ gateway: 'infra/two', port: 8443 })).toEqual({ host: '127.0.1.2', port: 8443 });
  });

  test('privileged ports move up', () => {
    const addresses = new StandaloneAddresses(true);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 80 })).toEqual({ host: '127.0.1.1', port: 8080 });
  });

  test('the same question has the same answer', () => {
    const addresses = new StandaloneAddresses(true);
    const first = addresses.addressOf({ gateway: 'infra/one', port: 80 });
    addresses.addressOf({ gateway: 'infra/two', port: 80 });
    expect(addresses.addressOf({ gateway: 'infra/one', port: 80 })).toEqual(first);
  });

  test('ports of one Gateway that would fall together stay apart', () => {
    const addresses = new StandaloneAddresses(true);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 80 }).port).toBe(8080);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 8080 }).port).toBe(9080);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 9080 }).port).toBe(10_080);
  });

  test('with one loopback address Gateways are told apart by port', () => {
    const addresses = new StandaloneAddresses(false);
    expect(addresses.addressOf({ gateway: 'infra/one', port: 80 })).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(addresses.addressOf({ gateway: 'infra/two', port: 80 })).toEqual({ host: '127.0.0.1', port: 9080 });
  });

  test('there is an address at the end of the port range too', () => {
    const addresses = new StandaloneAddresses(false);
    const ports = ['one', 'two', 'three'].map((name) => addresses.addressOf({ gateway: `infra/${name}`, port: 65_535 }).port);
    expect(new Set(ports).size).toBe(3);
    expect(ports.every((port) => port >= 1024 && port <= 65_535)).toBe(true);
  });
});
