import { expect, test } from '@jest/globals';
import { configuration } from '../../src/core/routing/emit.ts';
import { routesOfListener } from '../../src/core/rules/engine/validity.ts';
import { routesOfHostname } from '../../src/core/rules/matches/match-places.ts';
import { evaluate, ourClass } from '../support/evaluation.ts';
import { scaled } from './support/scale.ts';

const gateways = Array.from({ length: 32 }, (_, index) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: `web${index}`, namespace: 'shop' },
  spec: {
    gatewayClassName: 'sallyport',
    listeners: Array.from({ length: 64 }, (__, at) => ({ name: `l${at}`, port: 80 + at, protocol: 'HTTP' })),
  },
}));

test('routes that refer to 2,048 listeners take no more entries and configuration than the limit allows', () => {
  const names = Array.from({ length: scaled(20, 200) }, (_, index) => `cart${index}`);
  const routes = names.map((name) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'shop' },
    spec: {
      parentRefs: gateways.map(({ metadata }) => ({ name: metadata.name })),
      rules: [{ matches: [{ path: { value: `/${name}` } }] }],
    },
  }));
  const { kernel } = evaluate([...routes, ...gateways, ourClass]);
  for (const name of names) {
    expect([...routesOfListener.entries(kernel.read, 'HTTPRoute', 'shop', name)]).toHaveLength(128);
    expect([...routesOfHostname.entries(kernel.read, 'HTTPRoute', 'shop', name)].length).toBeLessThanOrEqual(128 * 4);
  }
  const attached = [...kernel.emitted(configuration).values()].flatMap((resource) =>
    resource.kind === 'route' ? [resource.attachments.length] : [],
  );
  expect(attached).toEqual(names.map(() => 128));
});
