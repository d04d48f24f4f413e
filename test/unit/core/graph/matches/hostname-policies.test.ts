import { expect, test } from '@jest/globals';
import { candidateOf, evaluate, ourClass, writeOf } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const front = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } });

const policy = (number: number): object => ({
  apiVersion: 'sallyport.dev/v1alpha1',
  kind: 'HostnamePolicy',
  metadata: { name: `policy-${number}`, generation: 1 },
  spec: { hostnames: ['shop.example.com'], namespaces: { names: [`team-${number}`] } },
});

const routeIn = (namespace: string): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace, generation: 1 },
  spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: ['shop.example.com'], rules: [{}] },
});

test('a route of a further namespace costs the same with any number of policies for its hostname', () => {
  const costOf = (policies: number): number => {
    const others = Array.from({ length: policies }, (_, number) => policy(number));
    const { kernel } = evaluate([ourClass, front, routeIn('team-0'), ...others]);
    const before = kernel.statistics().recomputations;
    const { resource } = candidateOf(routeIn('elsewhere'));
    kernel.apply([writeOf(resource.ref, resource)]);
    return kernel.statistics().recomputations - before;
  };
  const few = costOf(2);
  expect(few).toBeGreaterThan(0);
  expect(costOf(40)).toBe(few);
});
