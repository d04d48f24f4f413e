import { describe, expect, test } from '@jest/globals';
import { found, ourClass, type Facts } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const plain = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }) as { readonly spec: object };
const gateway = (parametersRef: object) => ({ ...plain, spec: { ...plain.spec, infrastructure: { parametersRef } } });
const ref = { group: '', kind: 'ConfigMap', name: 'settings' };
const judged = (parametersRef: object, facts: Facts = {}) =>
  found('gateway-parameters', [gateway(parametersRef), ourClass], facts);
const refused = (message: string) => [
  [
    'spec.infrastructure.parametersRef',
    `${message} Until then, the Gateway is not accepted.`,
    'Accepted InvalidParameters object',
  ],
];

describe('gateway-parameters', () => {
  test('a ConfigMap that is not in the namespace of the Gateway', () => {
    expect(judged(ref, { parameters: { 'infra/settings': {} } })).toEqual(
      refused('ConfigMap "shop/settings" not found. Check the name, or create it.'),
    );
  });

  test('another kind', () => {
    expect(judged({ group: 'example.net', kind: 'Settings', name: 'fast' })).toEqual(
      refused('Unsupported parameters kind example.net/Settings. Use kind: ConfigMap and group: "".'),
    );
  });

  test('what cannot be understood', () => {
    expect(judged(ref, { parameters: { 'shop/settings': { replicas: '-1', colour: 'red' } } })).toEqual(
      refused(
        'Invalid parameters in ConfigMap "shop/settings": replicas must be a number from 1 to 999, not "-1"; unknown parameter "colour", use one of replicas, serviceType, loadBalancerClass, externalTrafficPolicy, forwarded, acceptProxyProtocol, sendProxyProtocol, cpu, cpuLimit, memory, memoryLimit, connectionsPerClient, tcpIdleTimeout, udpIdleTimeout, udpFlows, workers, internalBackendNetworks.',
      ),
    );
  });

  test.each(['0s', '1.5h', '100ms', '', 'h', '1s1h', '0h0m'])(
    'an idle timeout of "%s" is invalid',
    (udpIdleTimeout) => {
      expect(judged(ref, { parameters: { 'shop/settings': { udpIdleTimeout } } })).toEqual([
        [expect.anything(), expect.stringContaining('udpIdleTimeout must be'), expect.anything()],
      ]);
    },
  );

  test.each([
    [
      { internalBackendNetworks: '10.20.0.0/16' },
      'internalBackendNetworks is not allowed in the parameters of a Gateway: set it in the parameters of the GatewayClass',
    ],
    [
      { acceptProxyProtocol: '10.0.0.5/8' },
      'acceptProxyProtocol must be a valid list, not "10.0.0.5/8": 10.0.0.5 is not the first address of the network. Use 10.0.0.0/8, or 10.0.0.5-10.255.255.255',
    ],
    [{ workers: '0' }, 'workers must be a number from 1 to 64, not "0"'],
    [{ workers: '65' }, 'workers must be a number from 1 to 64, not "65"'],
    [{ cpuLimit: '0m' }, 'cpuLimit must be a quantity such as 2 or 1500m, not "0m"'],
    [
      { sendProxyProtocol: 'v3' },
      'sendProxyProtocol must be a valid list, not "v3": "v3" is invalid. Use v1 or v2 for all ports, or versions by the port of the listener such as 25=v1, 5432=v2',
    ],
  ])('%j is invalid', (parameters, message) => {
    expect(judged(ref, { parameters: { 'shop/settings': parameters } })).toEqual(
      refused(`Invalid parameters in ConfigMap "shop/settings": ${message}.`),
    );
  });

  test('good ones are fine, and Gateways of others', () => {
    expect(
      judged(ref, {
        parameters: {
          'shop/settings': {
            replicas: '2',
            tcpIdleTimeout: '1h30m',
            udpIdleTimeout: '90s',
            udpFlows: '100',
            acceptProxyProtocol: '10.0.0.0/8, 2001:db8::/32',
            sendProxyProtocol: 'v2, 25=v1',
          },
        },
      }),
    ).toEqual([]);
    expect(found('gateway-parameters', [gateway(ref)])).toEqual([]);
  });
});
