import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../../support/evaluation.ts';
import { routeWith } from '../../../../support/rules.ts';

const route = routeWith({
  backendRefs: [
    { name: 'cart', port: 8080 },
    { name: 'stock', namespace: 'shop', port: 9000 },
  ],
});
const cart = serviceWith({ ports: [{ port: 8080 }] });

describe('backend-not-found', () => {
  test('the Service is missing', () => {
    expect(found('backend-not-found', [route, cart])).toEqual([
      [
        'spec.rules[0].backendRefs[1]',
        'Service "shop/stock" not found. Check its name and namespace, or create it. Until then, its share of requests is answered with 500.',
        'ResolvedRefs BackendNotFound backendRef',
      ],
    ]);
  });

  test.each<[unknown, string]>([
    [
      { ports: [{ port: 8080, targetPort: 9000 }, { port: 80 }] },
      'Use a port of the Service (not a targetPort): 8080, 80',
    ],
    // A route with 256 backendRefs repeats it for each.
    [
      { ports: Array.from({ length: 1_000 }, (_, index) => ({ port: index + 1 })) },
      'Use a port of the Service (not a targetPort): 1, 2, 3, 4, 5 and 995 more',
    ],
    [{}, 'The Service has no ports: use another Service'],
  ])('the port is missing: %j', (spec, ports) => {
    expect(found('backend-not-found', [route, cart, serviceWith(spec, 'stock')])).toEqual([
      [
        'spec.rules[0].backendRefs[1]',
        `Port 9000 not found in Service "shop/stock". ${ports}. Until then, its share of requests is answered with 500.`,
        'ResolvedRefs BackendNotFound backendRef',
      ],
    ]);
  });

  test('an authorization server that is missing costs all requests of its rule', () => {
    const filter = {
      type: 'ExternalAuth',
      externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'stock', port: 9000 } },
    };
    expect(
      found(
        'backend-not-found',
        [routeWith({ filters: [filter], backendRefs: [{ name: 'cart', port: 8080 }] }), cart],
        { bundle: { minor: '1.7', channel: 'experimental' } },
      ),
    ).toEqual([
      [
        'spec.rules[0].filters[0].externalAuth.backendRef',
        'Service "shop/stock" not found. Check its name and namespace, or create it. Until then, all requests that match this rule are answered with 500.',
        'ResolvedRefs BackendNotFound rule',
      ],
    ]);
  });

  test('a mirror that leads nowhere costs copies only', () => {
    const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'stock', port: 9000 } } };
    const mirrored = routeWith({
      backendRefs: [{ name: 'cart', port: 8080, filters: [mirror] }],
      filters: [{ type: 'URLRewrite', urlRewrite: {} }, mirror],
    });
    const message =
      'Service "shop/stock" not found. Check its name and namespace, or create it. Until then, no requests are mirrored to it.';
    expect(found('backend-not-found', [mirrored, cart])).toEqual([
      [
        'spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef',
        message,
        'ResolvedRefs BackendNotFound mirror',
      ],
      ['spec.rules[0].filters[1].requestMirror.backendRef', message, 'ResolvedRefs BackendNotFound mirror'],
    ]);
  });

  test('a Service without endpoints is found', () => {
    expect(found('backend-not-found', [route, cart, serviceWith({ ports: [{ port: 9000 }] }, 'stock')])).toEqual([]);
  });
});
