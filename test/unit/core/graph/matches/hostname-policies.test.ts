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

const routeIn = (namespace: string, hostname = 'shop.example.com'): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace, generation: 1 },
  spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: [hostname], rules: [{}] },
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

test('a hostname of very many labels costs the same as one of few, unless policies have as many', () => {
  const costOf = (hostname: string): number => {
    const { kernel } = evaluate([ourClass, front, policy(0)]);
    const before = kernel.statistics().nodes;
    const { resource } = candidateOf(routeIn('elsewhere', hostname));
    kernel.apply([writeOf(resource.ref, resource)]);
    return kernel.statistics().nodes - before;
  };
  expect(costOf(`a${'.b'.repeat(100)}.example.com`)).toBe(costOf('a.b.example.com'));
});
