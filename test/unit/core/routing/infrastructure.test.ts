import { describe, expect, test } from '@jest/globals';
import { infrastructure } from '../../../../src/core/routing/infrastructure.ts';
import { evaluate, listenerSet, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';

const parametersRef = { group: '', kind: 'ConfigMap', name: 'settings' };
const gatewayClass = { ...ourClass, spec: { ...ourClass.spec, parametersRef: { ...parametersRef, namespace: 'infra' } } };
const plain = gatewayWith({ name: 'web', port: 443, protocol: 'HTTP' }, { name: 'again', port: 443, protocol: 'HTTP', hostname: 'a.example.com' }) as { readonly spec: object };
const gateway = {
  ...plain,
  spec: {
    ...plain.spec,
    allowedListeners: { namespaces: { from: 'Same' } },
    addresses: [{ value: '192.0.2.1' }, { type: 'Hostname' }],
    infrastructure: { labels: { team: 'shop' }, annotations: { 'example.com/a': 'b' }, parametersRef },
  },
};
const set = listenerSet({ parentRef: { name: 'front' }, listeners: [{ name: 'more', port: 80, protocol: 'HTTP' }, { name: 'none', port: 0, protocol: 'HTTP' }] });

describe('infrastructure', () => {
  test('is what Gateway, ListenerSets and parameters ask for; the Gateway goes before its class', () => {
    const parameters = { 'infra/settings': { replicas: '2', serviceType: 'NodePort' }, 'shop/settings': { replicas: '5' } };
    expect([...evaluate([gatewayClass, gateway, set], { parameters }).kernel.emitted(infrastructure)]).toEqual([['shop/front', {
      ports: [80, 443],
      addresses: [{ type: 'IPAddress', value: '192.0.2.1' }, { type: 'Hostname', value: '' }],
      parameters: { replicas: 5, serviceType: 'NodePort' },
      labels: { team: 'shop' },
      annotations: { 'example.com/a': 'b' },
    }]]);
  });

  test('is nothing for Gateways of others', () => {
    expect(evaluate([plain]).kernel.emitted(infrastructure).size).toBe(0);
  });
});
