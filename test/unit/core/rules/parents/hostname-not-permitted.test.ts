import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const open = { namespaces: { from: 'All' } };
const web = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: open };
const front = gatewayWith(web);
const parentRefs = [{ name: 'front', namespace: 'shop' }];

const policy = (name: string, spec: object): unknown => ({
  apiVersion: 'sallyport.dev/v1alpha1',
  kind: 'HostnamePolicy',
  metadata: { name },
  spec,
});
const shopOwns = (...hostnames: readonly string[]) => policy('shop', { hostnames, namespaces: { names: ['shop'] } });
const routeIn = (namespace: string, hostnames?: readonly string[], kind = 'HTTPRoute'): unknown => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: { name: 'cart', namespace },
  spec: { parentRefs, ...(hostnames && { hostnames }), rules: [{}] },
});
const market = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'market', labels: { team: 'market' } } };

const findings = (first: unknown, ...others: readonly unknown[]) =>
  found('hostname-not-permitted', [first, ...others, ourClass]);
const consequencesOf = (first: unknown, ...others: readonly unknown[]) =>
  findings(first, ...others).map(([, , consequence]) => consequence);
const refused = 'Accepted HostnameNotPermitted parentRef';

describe('hostname-not-permitted', () => {
  test('names the hostname, the Gateway, the policy and the owner', () => {
    expect(findings(routeIn('market', ['shop.example.com']), front, shopOwns('shop.example.com'))).toEqual([
      [
        'spec.parentRefs[0]',
        'Namespace "market" may not serve hostname "shop.example.com" on Gateway "shop/front": HostnamePolicy "shop" permits it only in namespace "shop". Use a hostname of this namespace, or add the namespace to the policy.',
        refused,
      ],
    ]);
  });

  test.each([
    ['the owner', routeIn('shop', ['shop.example.com']), shopOwns('shop.example.com')],
    ['a hostname that no policy contains', routeIn('market', ['market.example.com']), shopOwns('shop.example.com')],
    ['a name that a wildcard does not cover', routeIn('market', ['example.com']), shopOwns('*.example.com')],
    [
      'a policy for another Gateway',
      routeIn('market', ['shop.example.com']),
      policy('shop', {
        hostnames: ['shop.example.com'],
        namespaces: { names: ['shop'] },
        gateways: [{ namespace: 'infra', name: 'front' }],
      }),
    ],
    ['a TCPRoute, which has no hostnames', routeIn('market', undefined, 'TCPRoute'), shopOwns('*')],
    [
      'a namespace with the labels of the policy',
      routeIn('market', ['shop.example.com']),
      policy('labels', {
        hostnames: ['shop.example.com'],
        namespaces: { selector: { matchLabels: { team: 'market' } } },
      }),
    ],
  ])('%s is permitted', (_, route, hostnamePolicy) => {
    expect(findings(route, front, hostnamePolicy, market)).toEqual([]);
  });

  test.each([
    ['a name below an owned wildcard', ['a.b.example.com'], '*.example.com'],
    ['a wildcard that covers an owned name', ['*.example.com'], 'shop.example.com'],
    ['a wildcard below an owned wildcard', ['*.b.example.com'], '*.example.com'],
    ['any name if every hostname is owned', ['example.org'], '*'],
    ['other case', ['SHOP.example.com'], 'shop.example.com'],
  ])('%s is refused', (_, hostnames, owned) => {
    expect(consequencesOf(routeIn('market', hostnames), front, shopOwns(owned))).toEqual([refused]);
  });

  test.each(['HTTPRoute', 'GRPCRoute'])('%s without hostnames serves those of the listener', (kind) => {
    const route = routeIn('market', undefined, kind);
    expect(consequencesOf(route, front, shopOwns('shop.example.com'))).toEqual([refused]);
    const other = gatewayWith({ ...web, hostname: '*.example.org' });
    expect(findings(route, other, shopOwns('shop.example.com'))).toEqual([]);
    const same = gatewayWith({ ...web, hostname: '*.example.com' });
    expect(findings(route, same, shopOwns('shop.example.com'))[0]?.[1]).toBe(
      'The route has no hostnames, so it serves hostname "*.example.com". Namespace "market" may not serve hostname "*.example.com" on Gateway "shop/front", because this includes hostname "shop.example.com": HostnamePolicy "shop" permits it only in namespace "shop". Set hostnames of this namespace, or add the namespace to the policy.',
    );
  });

  test('a policy for every hostname permits a route without hostnames', () => {
    const everything = policy('platform', { hostnames: ['*'], namespaces: { names: ['market'] } });
    expect(findings(routeIn('market'), front, shopOwns('shop.example.com'), everything)).toEqual([]);
  });

  test('the policy with the most specific hostname decides', () => {
    const wide = policy('market', { hostnames: ['*.example.com'], namespaces: { names: ['market'] } });
    const both = [front, wide, shopOwns('shop.example.com')];
    expect(consequencesOf(routeIn('market', ['shop.example.com']), ...both)).toEqual([refused]);
    expect(findings(routeIn('market', ['a.example.com']), ...both)).toEqual([]);
    expect(consequencesOf(routeIn('shop', ['a.example.com']), ...both)).toEqual([refused]);
  });

  test('policies with the same hostname permit the namespaces of each', () => {
    const second = policy('second', { hostnames: ['shop.example.com'], namespaces: { names: ['market'] } });
    expect(findings(routeIn('market', ['shop.example.com']), front, second, shopOwns('shop.example.com'))).toEqual([]);
    expect(findings(routeIn('depot', ['shop.example.com']), front, second, shopOwns('shop.example.com'))[0]?.[1]).toBe(
      'Namespace "depot" may not serve hostname "shop.example.com" on Gateway "shop/front": HostnamePolicies "second", "shop" permit it only in namespace "market", "shop". Use a hostname of this namespace, or add the namespace to the policy.',
    );
  });

  test.each<[object, string]>([
    [{ selector: { matchLabels: { partner: 'yes' } } }, 'only in namespaces with labels "partner=yes"'],
    [
      {
        selector: {
          matchLabels: { partner: 'yes' },
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['gold', 'silver'] },
            { key: 'stage', operator: 'NotIn', values: ['test'] },
            { key: 'team', operator: 'Exists' },
            { key: 'old', operator: 'DoesNotExist' },
          ],
        },
      },
      'only in namespaces with labels "partner=yes,tier in (gold,silver),stage notin (test),team,!old"',
    ],
    [
      { names: ['market'], selector: { matchLabels: { partner: 'yes' } } },
      'only in namespace "market" with labels "partner=yes"',
    ],
    [{ selector: { matchLabels: { partner: '-' } } }, 'in no namespace'],
    [{}, 'in no namespace'],
  ])('tells the namespaces of %j', (namespaces, text) => {
    const hostnames = ['shop.example.com'];
    const [finding] = findings(
      routeIn('market', hostnames),
      front,
      market,
      policy('labels', { hostnames, namespaces }),
    );
    expect(finding?.[1]).toContain(`HostnamePolicy "labels" permits it ${text}.`);
  });

  test('tells the namespaces of all policies of a hostname', () => {
    const hostnames = ['shop.example.com'];
    const labels = policy('labels', { hostnames, namespaces: { selector: { matchLabels: { partner: 'yes' } } } });
    const [finding] = findings(routeIn('market', hostnames), front, market, labels, shopOwns(...hostnames));
    expect(finding?.[1]).toContain(
      'HostnamePolicies "labels", "shop" permit it only in namespace "shop" or in namespaces with labels "partner=yes".',
    );
  });

  test('names and selector must both match', () => {
    const either = (names: readonly string[], team: string) =>
      policy('both', { hostnames: ['shop.example.com'], namespaces: { names, selector: { matchLabels: { team } } } });
    const route = routeIn('market', ['shop.example.com']);
    expect(findings(route, front, market, either(['market'], 'market'))).toEqual([]);
    expect(consequencesOf(route, front, market, either(['market'], 'shop'))).toEqual([refused]);
    expect(consequencesOf(route, front, market, either(['shop'], 'market'))).toEqual([refused]);
  });

  test('the other hostnames of a route are served', () => {
    const route = routeIn('market', ['market.example.com', 'shop.example.com']);
    expect(consequencesOf(route, front, shopOwns('shop.example.com'))).toEqual([
      'sallyport.dev/HostnameNotPermitted HostnameNotPermitted parentRef',
    ]);
  });

  test.each([
    ['namespaces without names and selector', { hostnames: ['shop.example.com'], namespaces: {} }],
    ['unreadable namespaces', { hostnames: ['shop.example.com'], namespaces: 'all' }],
    ['an unreadable name', { hostnames: ['shop.example.com'], namespaces: { names: ['market', 7] } }],
    [
      'unreadable Gateways',
      { hostnames: ['shop.example.com'], namespaces: { names: ['shop'] }, gateways: [{ namespace: 'infra', name: 7 }] },
    ],
  ])('%s permit nobody', (_, spec) => {
    expect(consequencesOf(routeIn('market', ['shop.example.com']), front, policy('odd', spec))).toEqual([refused]);
  });

  test('a ListenerSet counts as its Gateway', () => {
    const gateway = front as { readonly spec: object };
    const willing = { ...gateway, spec: { ...gateway.spec, allowedListeners: open } };
    const set = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ListenerSet',
      metadata: { name: 'extra', namespace: 'market' },
      spec: { parentRef: { name: 'front', namespace: 'shop' }, listeners: [{ ...web, name: 'more', port: 81 }] },
    };
    const route = {
      ...(routeIn('market') as object),
      spec: { parentRefs: [{ kind: 'ListenerSet', name: 'extra' }], hostnames: ['shop.example.com'], rules: [{}] },
    };
    const onFront = policy('shop', {
      hostnames: ['shop.example.com'],
      namespaces: { names: ['shop'] },
      gateways: [{ namespace: 'shop', name: 'front' }],
    });
    expect(consequencesOf(route, willing, set, onFront)).toEqual([refused]);
  });
});

describe('hostname-not-permitted for listeners of a ListenerSet', () => {
  const gateway = gatewayWith({ ...web, hostname: '*.example.com' }) as { readonly spec: object };
  const willing = { ...gateway, spec: { ...gateway.spec, allowedListeners: open } };
  const setIn = (namespace: string, ...listeners: readonly object[]): unknown => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ListenerSet',
    metadata: { name: 'take', namespace },
    spec: { parentRef: { name: 'front', namespace: 'shop' }, listeners },
  });
  const listenerFor = (hostname: string) => ({ ...web, name: 'x', hostname });
  const notServed = 'Accepted HostnameNotPermitted listener';

  test('names the hostname, the Gateway, the policy and the owner', () => {
    const set = setIn('market', listenerFor('market.example.com'), { ...listenerFor('shop.example.com'), name: 'y' });
    expect(findings(set, willing, shopOwns('shop.example.com'))).toEqual([
      [
        'spec.listeners[1].hostname',
        'Namespace "market" may not serve hostname "shop.example.com" on Gateway "shop/front": HostnamePolicy "shop" permits it only in namespace "shop". Use a hostname of this namespace, or add the namespace to the policy.',
        notServed,
      ],
    ]);
  });

  test.each([
    ['a name below an owned wildcard', 'a.shop.example.com', '*.shop.example.com'],
    ['an owned wildcard', '*.shop.example.com', '*.shop.example.com'],
    ['a wildcard below an owned wildcard', '*.b.shop.example.com', '*.shop.example.com'],
    ['any hostname if every hostname is owned', 'example.org', '*'],
    ['other case', 'SHOP.example.com', 'shop.example.com'],
  ])('%s is refused', (_, hostname, owned) => {
    expect(consequencesOf(setIn('market', listenerFor(hostname)), willing, shopOwns(owned))).toEqual([notServed]);
  });

  test.each([
    ['the owner', setIn('shop', listenerFor('shop.example.com')), shopOwns('shop.example.com')],
    ['a hostname that no policy covers', setIn('market', listenerFor('a.example.com')), shopOwns('shop.example.com')],
    ['a wildcard that no policy covers', setIn('market', listenerFor('*.example.com')), shopOwns('shop.example.com')],
    ['a listener without a hostname', setIn('market', { ...web, name: 'x' }), shopOwns('*')],
    [
      'a listener of a protocol without hostnames',
      setIn('market', { ...listenerFor('shop.example.com'), protocol: 'TCP' }),
      shopOwns('shop.example.com'),
    ],
    [
      'a policy for another Gateway',
      setIn('market', listenerFor('shop.example.com')),
      policy('shop', {
        hostnames: ['shop.example.com'],
        namespaces: { names: ['shop'] },
        gateways: [{ namespace: 'infra', name: 'front' }],
      }),
    ],
  ])('%s is permitted', (_, set, hostnamePolicy) => {
    expect(findings(set, willing, hostnamePolicy)).toEqual([]);
  });

  test('listeners of the Gateway itself are not judged', () => {
    expect(findings(gatewayWith(listenerFor('bank.example.com')), shopOwns('*'))).toEqual([]);
  });

  test('a ListenerSet that the Gateway does not allow is not judged', () => {
    expect(findings(setIn('market', listenerFor('shop.example.com')), gateway, shopOwns('shop.example.com'))).toEqual(
      [],
    );
  });
});
