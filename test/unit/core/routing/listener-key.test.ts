import { expect, test } from '@jest/globals';
import { configuredListener } from '../../../../src/core/routing/listener-key.ts';
import { configuration } from '../../../../src/core/routing/emit.ts';
import { evaluate, listenerSet, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';

const gateway = { namespace: 'shop', name: 'front' };
const ofGateway = { kind: 'Gateway', ...gateway } as const;
const ofSet = { kind: 'ListenerSet', namespace: 'shop', name: 'extra' } as const;

test('begins with the Gateway, whoever owns the listener', () => {
  expect(configuredListener(gateway, ofGateway, 'web')).toBe('listener/shop/front/web');
  expect(configuredListener(gateway, ofSet, 'web')).toBe('listener/shop/front/shop/extra/web');
});

// No schema allows such a name; the API server may hold it nevertheless.
test('is the key of one listener, whatever names there are', () => {
  expect(configuredListener(gateway, ofGateway, 'shop/extra/web')).not.toBe(configuredListener(gateway, ofSet, 'web'));
  expect(configuredListener(gateway, ofGateway, 'a/b')).not.toBe(configuredListener(gateway, ofGateway, 'a%2Fb'));
  const { metadata, spec } = gatewayWith({ name: 'shop/extra/web', port: 80, protocol: 'HTTP' }) as {
    readonly metadata: object;
    readonly spec: object;
  };
  const open = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata,
    spec: { ...spec, allowedListeners: { namespaces: { from: 'All' } } },
  };
  const { kernel } = evaluate([
    ourClass,
    open,
    listenerSet({ parentRef: { name: 'front' }, listeners: [{ name: 'web', port: 8080, protocol: 'HTTP' }] }),
  ]);
  expect([...kernel.emitted(configuration).keys()]).toEqual([
    'listener/shop/front/shop%2Fextra%2Fweb',
    'listener/shop/front/shop/extra/web',
  ]);
});
