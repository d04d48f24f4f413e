import { describe, expect, test } from '@jest/globals';
import { infrastructure } from '../../../../src/core/routing/infrastructure.ts';
import { evaluate, listenerSet, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';
import { tcpPorts } from '../../../support/gateway-ports.ts';

const parametersRef = { group: '', kind: 'ConfigMap', name: 'settings' };
const gatewayClass = {
  ...ourClass,
  spec: { ...ourClass.spec, parametersRef: { ...parametersRef, namespace: 'infra' } },
};
const plain = gatewayWith(
  { name: 'web', port: 443, protocol: 'HTTP' },
  { name: 'again', port: 443, protocol: 'HTTP', hostname: 'a.example.com' },
) as { readonly spec: object };
const gateway = {
  ...plain,
  spec: {
    ...plain.spec,
    allowedListeners: { namespaces: { from: 'Same' } },
    addresses: [{ value: '192.0.2.1' }, { type: 'Hostname' }],
    infrastructure: { labels: { team: 'shop' }, annotations: { 'example.com/a': 'b' }, parametersRef },
  },
};
const set = listenerSet({
  parentRef: { name: 'front' },
  listeners: [
    { name: 'more', port: 80, protocol: 'HTTP' },
    { name: 'none', port: 0, protocol: 'HTTP' },
  ],
});

describe('infrastructure', () => {
  test('is what Gateway, ListenerSets and parameters ask for; the Gateway goes before its class', () => {
    const parameters = {
      'infra/settings': { replicas: '2', serviceType: 'NodePort' },
      'shop/settings': { replicas: '5' },
    };
    expect([...evaluate([gatewayClass, gateway, set], { parameters }).kernel.emitted(infrastructure)]).toEqual([
      [
        'shop/front',
        {
          ports: tcpPorts(80, 443),
          addresses: [
            { type: 'IPAddress', value: '192.0.2.1' },
            { type: 'Hostname', value: '' },
          ],
          parameters: { replicas: 5, serviceType: 'NodePort' },
          labels: { team: 'shop' },
          annotations: { 'example.com/a': 'b' },
        },
      ],
    ]);
  });

  test.each<[readonly object[], readonly string[] | undefined]>([
    [[{ type: 'IPAddress' }], undefined],
    [[{ type: 'IPAddress', routability: 'Cluster' }], ['Cluster']],
    [[{ type: 'IPAddress', routability: 'testing.x-k8s.io/sentinel' }], ['Cluster']],
    [
      [{ type: 'IPAddress', routability: 'Cluster' }, { type: 'IPAddress' }],
      ['Cluster', 'Default'],
    ],
    [[{ type: 'IPAddress', routability: 'example.com/vpc' }], []],
    [[{ type: 'Hostname', routability: 'Cluster' }], []],
  ])('addresses %j need Services %j', (addresses, scopes) => {
    const facts = { bundle: { minor: '1.7', channel: 'experimental' } } as const;
    const front = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }) as { readonly spec: object };
    const asking = { ...front, spec: { ...front.spec, addresses } };
    const found = evaluate([ourClass, asking], facts).kernel.emitted(infrastructure).get('shop/front');
    expect(found?.scopes).toEqual(scopes);
  });

  test('has each port and transport once, and none for a protocol that is not served', () => {
    const portsOf = (...listeners: readonly unknown[]): unknown =>
      evaluate([ourClass, gatewayWith(...listeners)])
        .kernel.emitted(infrastructure)
        .get('shop/front')?.ports;
    const [web, raw, names] = [
      { name: 'web', port: 80, protocol: 'HTTP' },
      { name: 'raw', port: 9000, protocol: 'TCP' },
      { name: 'names', port: 53, protocol: 'UDP' },
    ];
    expect(
      portsOf(
        web,
        raw,
        names,
        { name: 'own', port: 81, protocol: 'example.com/own' },
        { name: 'odd', port: 82, protocol: 'http' },
      ),
    ).toEqual([
      { port: 53, transport: 'UDP' },
      { port: 80, transport: 'TCP' },
      { port: 9000, transport: 'TCP' },
    ]);
    expect(portsOf(web, { ...raw, port: 80 })).toEqual(tcpPorts(80));
    expect(portsOf({ ...raw, port: 53 }, names)).toEqual([
      { port: 53, transport: 'TCP' },
      { port: 53, transport: 'UDP' },
    ]);
  });

  test('is not told of where no protocol is served, so that a mistyped one takes nothing away', () => {
    expect(
      evaluate([ourClass, gatewayWith({ name: 'odd', port: 80, protocol: 'http' })]).kernel.emitted(infrastructure)
        .size,
    ).toBe(0);
  });

  test('is nothing for Gateways of others', () => {
    expect(evaluate([plain]).kernel.emitted(infrastructure).size).toBe(0);
  });
});
