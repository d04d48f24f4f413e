import { describe, expect, test } from '@jest/globals';
import { decisionOf } from '../../../../src/core/admission/decide.ts';
import { objectCell } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { runToEnd } from '../../../../src/core/text/steps.ts';
import { evaluate, grantIn, serviceWith, standardPolicy } from '../../../support/evaluation.ts';
import { trafficPolicy } from '../../../support/traffic-policy.ts';
import { cartRoute, decide, platform, requestOf, rule } from './requests.ts';

const grant = grantIn(
  'billing',
  { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' },
  { group: '', kind: 'Service' },
) as object;
const invoices = serviceWith({ ports: [{ port: 8080 }] }, 'invoices', 'billing');
const toInvoices = cartRoute([{ backendRefs: [{ name: 'invoices', namespace: 'billing', port: 8080 }] }], {
  name: 'invoices',
});
const numbered = (count: number) =>
  Array.from({ length: count }, (_, number) => cartRoute([rule], { name: `route-${number}` }));
const [, gateway, cart] = platform as readonly [object, object, object];

describe('deleting', () => {
  test('a ReferenceGrant names the routes that it breaks', () => {
    expect(decide(evaluate([...platform, invoices, grant, toInvoices]), requestOf({ oldObject: grant }))).toMatchObject(
      {
        allowed: true,
        warnings: [
          '[impact] Deleting ReferenceGrant billing/allow breaks HTTPRoute "shop/invoices": spec.rules[0].backendRefs[0]: Service "billing/invoices" is in another namespace, and no ReferenceGrant there permits this reference. Until then, its share of requests is answered with 500.',
        ],
        auditAnnotations: {},
      },
    );
  });

  test('a ReferenceGrant that another one doubles breaks nothing', () => {
    const double = { ...grant, metadata: { name: 'double', namespace: 'billing' } };
    expect(
      decide(evaluate([...platform, invoices, grant, double, toInvoices]), requestOf({ oldObject: grant })).warnings,
    ).toEqual([]);
  });

  test('a Service', () => {
    expect(decide(evaluate([...platform, cartRoute([rule])]), requestOf({ oldObject: cart })).warnings).toEqual([
      '[impact] Deleting Service shop/cart breaks HTTPRoute "shop/cart": spec.rules[0].backendRefs[0]: Service "shop/cart" not found. Check its name and namespace, or create it. Until then, its share of requests is answered with 500.',
    ]);
  });

  test('an XBackend', () => {
    const partner = {
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XBackend',
      metadata: { name: 'partner', namespace: 'shop' },
      spec: { type: 'ExternalHostname', externalHostname: { hostname: 'api.example.com' }, port: { number: 443 } },
    };
    const toPartner = cartRoute([
      { backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'partner' }] },
    ]);
    expect(decide(evaluate([...platform, partner, toPartner]), requestOf({ oldObject: partner })).warnings).toEqual([
      '[impact] Deleting XBackend shop/partner breaks HTTPRoute "shop/cart": spec.rules[0].backendRefs[0]: XBackend "shop/partner" not found. Check its name and namespace, or create it. Until then, its share of requests is answered with 500.',
    ]);
  });

  test('a Gateway', () => {
    expect(decide(evaluate([...platform, cartRoute([rule])]), requestOf({ oldObject: gateway })).warnings).toEqual([
      '[impact] Deleting Gateway shop/front breaks HTTPRoute "shop/cart": spec.parentRefs[0]: Gateway "shop/front" not found. Check its name and namespace, or create it. Until then, the route is not attached to it.',
    ]);
  });

  test('a route breaks nobody', () => {
    const world = evaluate([...platform, cartRoute([rule])]);
    expect(decide(world, requestOf({ oldObject: cartRoute([rule]) }))).toEqual({
      allowed: true,
      warnings: [],
      findings: [],
      auditAnnotations: {},
    });
  });

  test('what no object is, or one of another kind, says nothing', () => {
    expect(decide(evaluate(platform), { ...requestOf({ oldObject: cart }), oldObject: 5 })).toEqual({
      allowed: true,
      warnings: [],
      findings: [],
      auditAnnotations: {},
    });
  });
});

const policyFor = (hostname: string, owner = 'billing', name = 'owner') => ({
  apiVersion: 'sallyport.dev/v1alpha1',
  kind: 'HostnamePolicy',
  metadata: { name },
  spec: { hostnames: [hostname], namespaces: { names: [owner] } },
});
const route = {
  ...cartRoute([rule]),
  spec: { parentRefs: [{ name: 'front' }], hostnames: ['b.example.com'], rules: [rule] },
};

describe('deleting a policy', () => {
  test('a HostnamePolicy names the routes that lose a hostname to the owner of a wider one', () => {
    const [wide, own] = [policyFor('*.example.com', 'billing', 'wide'), policyFor('b.example.com', 'shop', 'own')];
    expect(decide(evaluate([...platform, route, wide, own]), requestOf({ oldObject: own }))).toMatchObject({
      allowed: true,
      warnings: [
        expect.stringContaining(
          '[impact] Deleting HostnamePolicy own breaks HTTPRoute "shop/cart": spec.parentRefs[0]: Namespace "shop" may not serve hostname "b.example.com" on Gateway "shop/front": HostnamePolicy "wide" permits it only in namespace "billing".',
        ),
      ],
    });
  });

  test('a HostnamePolicy that kept a route away breaks nothing', () => {
    const owner = policyFor('b.example.com');
    expect(decide(evaluate([...platform, route, owner]), requestOf({ oldObject: owner })).warnings).toEqual([]);
  });

  test.each([
    ['a retry budget', { retryConstraint: { budget: { percent: 10 } } }],
    ['sessions', { sessionPersistence: { cookie: { name: 'cart' } } }],
  ])('an XBackendTrafficPolicy with %s breaks nothing, and an older one gives way to another', (_what, spec) => {
    const [oldest, next] = [trafficPolicy('oldest', spec), trafficPolicy('next', spec, '2026-02-01T00:00:00Z')];
    for (const others of [[], [next]]) {
      const world = evaluate([...platform, cartRoute([rule]), oldest, ...others]);
      expect(decide(world, requestOf({ oldObject: oldest }))).toMatchObject({ allowed: true, warnings: [] });
    }
  });

  test('an XBackendTrafficPolicy breaks nothing if the next one is invalid, which was not in force before either', () => {
    const affine = serviceWith({ ports: [{ port: 8080 }], sessionAffinity: 'ClientIP' });
    const sessions = { sessionPersistence: { cookie: { name: 'cart' } } };
    const [oldest, next] = [trafficPolicy('oldest'), trafficPolicy('next', sessions, '2026-02-01T00:00:00Z')];
    const world = evaluate([...platform.filter((one) => one !== cart), affine, cartRoute([rule]), oldest, next]);
    expect(decide(world, requestOf({ oldObject: oldest })).warnings).toEqual([]);
  });
});

describe('creating', () => {
  // With an object of the kind, its CRD is installed.
  const other = { ...policyFor('other.example.com'), metadata: { name: 'other' } };

  test('a HostnamePolicy names the routes that may no longer serve a hostname', () => {
    const verdict = decide(evaluate([...platform, route, other]), requestOf({ object: policyFor('b.example.com') }));
    expect(verdict).toMatchObject({
      allowed: true,
      warnings: [
        '[impact] Creating HostnamePolicy owner breaks HTTPRoute "shop/cart": spec.parentRefs[0]: Namespace "shop" may not serve hostname "b.example.com" on Gateway "shop/front": HostnamePolicy "owner" permits it only in namespace "billing". Use a hostname of this namespace, or add the namespace to the policy.',
      ],
    });
  });

  test('a HostnamePolicy for a hostname that nobody serves', () => {
    const verdict = decide(evaluate([...platform, route, other]), requestOf({ object: policyFor('c.example.com') }));
    expect(verdict.warnings).toEqual([]);
  });

  test('an invalid HostnamePolicy is denied', () => {
    const verdict = decide(
      evaluate([...platform, route, other]),
      requestOf({ object: policyFor('https://b.example.com') }),
    );
    expect(verdict).toMatchObject({ allowed: false, message: expect.stringContaining('spec.hostnames[0]') });
  });
});

describe('a route that takes requests of another namespace', () => {
  const shared = {
    ...gateway,
    spec: {
      gatewayClassName: 'sallyport',
      listeners: [{ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }],
    },
  };
  const [ourGatewayClass] = platform;
  const owner = cartRoute([rule]);
  const taker = {
    ...cartRoute([{}], { name: 'taker', namespace: 'market' }),
    spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: ['b.example.com'], rules: [{}] },
  };

  test('is named when it is created', () => {
    expect(
      decide(evaluate([ourGatewayClass, shared, cart, owner]), requestOf({ object: taker })).warnings,
    ).toContainEqual(
      expect.stringMatching(
        /^\[impact\] Creating HTTPRoute market\/taker takes requests from HTTPRoute "shop\/cart": spec\.rules\[0\]\.matches\[0\]: HTTPRoute "market\/taker" gets requests /,
      ),
    );
  });

  test('is named when the other route is written', () => {
    expect(decide(evaluate([ourGatewayClass, shared, cart, taker]), requestOf({ object: owner })).warnings).toEqual([
      expect.stringMatching(
        /^\[requests-taken\] spec\.rules\[0\]\.matches\[0\]: HTTPRoute "market\/taker" gets requests /,
      ),
    ]);
  });
});

describe('changing', () => {
  test('a listener names the routes that lose it', () => {
    const moved = {
      ...gateway,
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [{ name: 'web', port: 80, protocol: 'HTTP', hostname: 'a.example.com' }],
      },
    };
    const route = {
      ...cartRoute([rule]),
      spec: { parentRefs: [{ name: 'front' }], hostnames: ['b.example.com'], rules: [rule] },
    };
    const verdict = decide(evaluate([...platform, route]), requestOf({ object: moved, oldObject: gateway }));
    expect(verdict.warnings).toEqual([
      expect.stringMatching(
        /^\[impact\] This change of Gateway shop\/front breaks HTTPRoute "shop\/cart": spec\.parentRefs\[0\]: No hostname of the route matches a listener of Gateway "shop\/front"/,
      ),
    ]);
  });

  test('reports no impact when the change is denied', () => {
    const moved = { name: 'web', port: 80, protocol: 'HTTP', hostname: 'a.example.com' };
    const denied = { ...gateway, spec: { gatewayClassName: 'sallyport', listeners: [moved, { ...moved, port: 81 }] } };
    const route = {
      ...cartRoute([rule]),
      spec: { parentRefs: [{ name: 'front' }], hostnames: ['b.example.com'], rules: [rule] },
    };
    const verdict = decide(evaluate([...platform, route]), requestOf({ object: denied, oldObject: gateway }));
    expect(verdict.allowed).toBe(false);
    expect(verdict.warnings.filter((warning) => warning.startsWith('[impact]'))).toEqual([]);
  });

  test('labels alone can break: those of a Namespace', () => {
    const chosen = {
      ...gateway,
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [
          {
            name: 'web',
            port: 80,
            protocol: 'HTTP',
            allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } } },
          },
        ],
      },
    };
    const namespace = (labels: object) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    const world = evaluate([platform[0], chosen, cart, namespace({ exposure: 'public' }), cartRoute([rule])]);
    const verdict = decide(world, requestOf({ object: namespace({}), oldObject: namespace({ exposure: 'public' }) }));
    expect(verdict.warnings).toEqual([
      expect.stringMatching(
        /^\[impact\] This change of Namespace shop breaks HTTPRoute "shop\/cart": spec\.parentRefs\[0\]: /,
      ),
    ]);
  });

  test('speaks of others only: what is wrong with the object itself is told by its own findings', () => {
    const broken = cartRoute([{ backendRefs: [{ name: 'gone', port: 80 }] }]);
    const { warnings } = decide(
      evaluate([...platform, cartRoute([rule])]),
      requestOf({ object: broken, oldObject: cartRoute([rule]) }),
    );
    expect(warnings).toEqual([expect.stringMatching(/^\[backend-not-found\]/)]);
  });

  test('for the better breaks nothing', () => {
    const world = evaluate([platform[0], gateway, cartRoute([rule])]);
    expect(decide(world, requestOf({ object: cart })).warnings).toEqual([]);
  });

  test('is compared with the old object of the request, where the state lags behind', () => {
    const lagging = evaluate([platform[0], gateway, cartRoute([rule]), serviceWith({ ports: [{ port: 9000 }] })]);
    const withoutPort = serviceWith({ ports: [{ port: 9090 }] }) as object;
    expect(decide(lagging, requestOf({ object: withoutPort, oldObject: cart })).warnings).toHaveLength(1);
  });
});

describe('many', () => {
  test('are counted after the first five', () => {
    const { warnings } = decide(evaluate([...platform, ...numbered(17)]), requestOf({ oldObject: cart }));
    expect(warnings).toHaveLength(6);
    expect(warnings.at(-1)).toBe('[impact] Deleting Service shop/cart breaks 12 more objects.');
  });

  test('are told as far as time allows', () => {
    const world = evaluate([...platform, ...numbered(17)]);
    const told = Array.from({ length: 400 }, (_, steps) => {
      let left = steps;
      const mayContinue = () => left-- > 0;
      return decide(world, requestOf({ oldObject: cart }), { mayContinue }).warnings;
    });
    const lengths = told.map((warnings) => warnings.length);
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));
    const lasts = [...new Set(told.filter((warnings) => warnings.length === 6).map((warnings) => warnings.at(-1)))];
    expect(lasts).toEqual([
      '[impact] Deleting Service shop/cart may break more objects: the time limit ended before all of them were checked.',
      ...Array.from(
        { length: 12 },
        (_, more) =>
          `[impact] Deleting Service shop/cart breaks at least ${more + 1} more object${more === 0 ? '' : 's'}.`,
      ),
      '[impact] Deleting Service shop/cart breaks 12 more objects.',
    ]);
  });

  test('are examined in steps before the first of them is judged, so that no step grows with their number', () => {
    const firstTold = (count: number): number => {
      const world = evaluate([...platform, ...numbered(count)]);
      const tells = (steps: number): boolean => {
        let left = steps;
        return decide(world, requestOf({ oldObject: cart }), { mayContinue: () => left-- > 0 }).warnings.length > 0;
      };
      return Array.from({ length: 2_000 }, (_, steps) => steps).find(tells) ?? 0;
    };
    expect(firstTold(40)).toBeGreaterThan(firstTold(20) + 20);
  });

  test('end where the cluster changes between any two steps, without an error', () => {
    const { spec } = gateway as { readonly spec: object };
    const listeners = [{ name: 'other', port: 81, protocol: 'HTTP', hostname: 'other.example.com' }];
    const object = { ...gateway, spec: { ...spec, listeners } };
    const update = requestOf({ oldObject: gateway, object });
    const changedAfter = (steps: number): boolean => {
      const { kernel } = evaluate([...platform, ...numbered(3)]);
      const decision = decisionOf(update, { kernel, policy: standardPolicy, mayContinue: () => true });
      for (let step = 0; step < steps; step += 1) if (decision.next().done === true) return false;
      kernel.apply([write(objectCell, ['Service', 'shop', 'other'], undefined)]);
      expect(runToEnd(decision).allowed).toBe(true);
      return true;
    };
    let steps = 0;
    while (changedAfter(steps)) steps += 1;
    expect(steps).toBeGreaterThan(3);
  });

  test('without any time nothing is said', () => {
    expect(
      decide(evaluate([...platform, ...numbered(3)]), requestOf({ oldObject: cart }), { mayContinue: () => false })
        .warnings,
    ).toEqual([]);
  });
});
