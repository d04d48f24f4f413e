import { describe, expect, test } from '@jest/globals';
import { settingsOf, StandaloneProxies } from '../../../../src/cli/standalone/proxies.ts';
import type { DataPlaneParameters } from '../../../../src/core/graph/parameters.ts';
import type { ConfigResource } from '../../../../src/core/routing/config.ts';
import type { Transaction } from '../../../../src/proxy/configuration.ts';
import { createCounters } from '../../../../src/proxy/counters.ts';
import type { Proxy } from '../../../../src/proxy/proxy.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';

function listener(gateway: string): ConfigResource {
  return { ...listenerConfig('http'), key: `listener/${gateway}/http`, gateway };
}

function stage(parameters: Record<string, DataPlaneParameters>) {
  const done: string[] = [];
  let count = 0;
  const proxies = new StandaloneProxies({
    parametersOf: (gateway) => parameters[gateway] ?? {},
    grace: 0,
    create: ({ forwarded = 'default' }) => {
      count += 1;
      const name = `${forwarded}#${count}`;
      return {
        apply: ({ upserts, removals }: Transaction) => {
          const keys = [...upserts.map(({ key }) => `+${key}`), ...removals.map((key) => `-${key}`)];
          done.push(`${name} ${keys.sort().join(' ')}`.trim());
          return Promise.resolve([{ key: name, message: 'a problem' }]);
        },
        addressesOf: () => [{ host: name, port: 80 }],
        reloadCertificates: () => Promise.resolve([]),
        setTraceKey: () => undefined,
        setSessionKeys: () => undefined,
        counters: createCounters,
        retire: () => undefined,
        close: () => {
          done.push(`${name} closed`);
          return Promise.resolve();
        },
      } satisfies Proxy;
    },
  });
  const apply = async (upserts: readonly ConfigResource[] = [], removals: readonly string[] = []) => {
    done.length = 0;
    const problems = await proxies.apply({ upserts, removals });
    return { done: [...done], problems };
  };
  return { proxies, apply };
}

const shared = endpointsConfig('app', 1);

describe('data planes of one process', () => {
  test('are one for Gateways with equal parameters, and have all shared resources', async () => {
    const { proxies, apply } = stage({ 'ns/c': { forwarded: 'replace' }, 'ns/b': { replicas: 3 } });
    const { done, problems } = await apply([listener('ns/a'), listener('ns/b'), listener('ns/c'), shared]);
    expect(done).toEqual([
      `default#1 +${shared.key} +listener/ns/a/http +listener/ns/b/http`,
      `replace#2 +${shared.key} +listener/ns/c/http`,
    ]);
    expect(problems).toHaveLength(2);
    expect(proxies.addressesOf('listener/ns/c/http')).toEqual([{ host: 'replace#2', port: 80 }]);
    expect(proxies.addressesOf('listener/ns/none/http')).toEqual([]);
  });

  test('change with the parameters: the port is freed first, and an unused data plane is closed', async () => {
    const parameters: Record<string, DataPlaneParameters> = {};
    const { apply } = stage(parameters);
    await apply([listener('ns/a'), listener('ns/b'), shared]);
    parameters['ns/b'] = { forwarded: 'replace' };
    expect((await apply()).done).toEqual([
      'default#1 -listener/ns/b/http',
      'default#1',
      `replace#2 +${shared.key} +listener/ns/b/http`,
    ]);
    delete parameters['ns/b'];
    expect((await apply()).done).toEqual([
      'replace#2 -listener/ns/b/http',
      'default#1 +listener/ns/b/http',
      'replace#2',
      'replace#2 closed',
    ]);
    expect((await apply([], ['listener/ns/b/http'])).done).toContain('default#1 -listener/ns/b/http');
  });

  test('serve nothing without a listener', async () => {
    expect((await stage({}).apply([shared])).done).toEqual([]);
  });
});

test('the settings of parameters are those of the options of a data plane', () => {
  expect(
    settingsOf({
      forwarded: 'replace',
      acceptProxyProtocol: '10.0.0.0/8',
      sendProxyProtocol: 'v2',
      connectionsPerClient: '5',
      tcpIdleTimeout: '90s',
      udpIdleTimeout: '2m',
      udpFlows: '10',
      internalBackendNetworks: '10.20.0.0/16',
    }),
  ).toEqual({
    forwarded: 'replace',
    proxyProtocol: {
      accept: [expect.objectContaining({})],
      send: expect.objectContaining({ all: 'v2' }),
    },
    limits: {
      connectionsPerClient: 5,
      tcpIdleTimeout: 90_000,
      udpIdleTimeout: 120_000,
      udpFlows: 10,
      udpFlowsPerClient: 3,
    },
    internalBackendNetworks: [expect.objectContaining({})],
  });
  expect(settingsOf({})).toEqual({ proxyProtocol: {}, limits: {} });
});
