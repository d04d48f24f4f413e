import { describe, expect, test } from '@jest/globals';
import type {
  CertificateResource,
  ChannelResource,
  SessionKeysResource,
  TraceKeyResource,
} from '../../../src/channel/messages.ts';
import { ConfigurationSource } from '../../../src/channel/source.ts';
import { ConfigurationByGateway, type GatewayChange } from '../../../src/controller/configuration-by-gateway.ts';
import { authorizedBy } from '../../support/authorization.ts';
import type { EndpointsConfig, ListenerConfig, RouteConfig } from '../../../src/core/routing/config.ts';

function change(upserts: readonly Exclude<ChannelResource, TraceKeyResource>[], removals: readonly string[] = []) {
  return { upserted: new Map(upserts.map((resource) => [resource.key, resource])), removed: new Set(removals) };
}

function listener(gateway: string, ...certificates: readonly string[]): ListenerConfig {
  return {
    kind: 'listener',
    key: `listener/${gateway}/http`,
    gateway,
    owner: `Gateway/${gateway}`,
    name: 'http',
    port: 80,
    protocol: 'HTTP',
    certificates,
    generation: 1,
  };
}

function endpoints(service: string, ...hosts: string[]): EndpointsConfig {
  return { kind: 'endpoints', key: `endpoints/ns/${service}/80`, addresses: hosts.map((host) => ({ host, port: 80 })) };
}

function certificate(name: string, text: string): CertificateResource {
  return {
    kind: 'certificate',
    key: `certificate/ns/${name}`,
    secret: `ns/${name}`,
    certificate: text,
    privateKey: text,
  };
}

function route(name: string, gateways: readonly string[], services: readonly string[]): RouteConfig {
  return {
    kind: 'route',
    key: `route/HTTPRoute/ns/${name}`,
    route: `ns/${name}`,
    created: '',
    generation: 1,
    attachments: gateways.map((gateway) => ({ listener: `listener/${gateway}/http`, hostnames: [''] })),
    rules: [
      {
        index: 0,
        matches: [],
        filters: [],
        backends: services.map((service) => ({
          weight: 1,
          target: { type: 'endpoints', key: `endpoints/ns/${service}/80` },
          filters: [],
        })),
      },
    ],
  };
}

/** `gateway: +upserted -removed` */
function summary(changes: ReadonlyMap<string, GatewayChange>): readonly string[] {
  return [...changes]
    .map(([gateway, { upserts, removals }]) =>
      [`${gateway}:`, ...[...upserts.keys()].map((key) => `+${key}`), ...[...removals].map((key) => `-${key}`)].join(
        ' ',
      ),
    )
    .sort();
}

describe('configuration by Gateway', () => {
  test('a Gateway gets its listeners, its routes without their attachments elsewhere, and the endpoints they use', () => {
    const split = new ConfigurationByGateway();
    const changes = split.apply(
      change([
        listener('ns/a'),
        listener('ns/b'),
        endpoints('x', '10.0.0.1'),
        endpoints('unused'),
        route('r', ['ns/a', 'ns/b'], ['x']),
        route('s', ['ns/b'], []),
      ]),
    );
    expect(summary(changes)).toEqual([
      'ns/a: +listener/ns/a/http +route/HTTPRoute/ns/r +endpoints/ns/x/80',
      'ns/b: +listener/ns/b/http +route/HTTPRoute/ns/r +endpoints/ns/x/80 +route/HTTPRoute/ns/s',
    ]);
    expect(changes.get('ns/a')?.upserts.get('route/HTTPRoute/ns/r')).toMatchObject({
      attachments: [{ listener: 'listener/ns/a/http' }],
    });
  });

  test('a route of one Gateway is not copied', () => {
    const only = route('one', ['ns/a'], ['s']);
    const { upserts } = new ConfigurationByGateway().apply(change([only])).get('ns/a') ?? {};
    expect(upserts?.get(only.key)).toBe(only);
  });

  test('endpoints that are withheld from a Gateway are a failure there, whichever comes first', () => {
    const shared: EndpointsConfig = { ...endpoints('x', '10.0.0.1'), withheld: { from: ['ns/a'], failure: 'no room' } };
    const refused = { kind: 'endpoints', key: shared.key, addresses: [], failure: 'no room' };
    const split = new ConfigurationByGateway();
    const first = split.apply(change([shared, route('r', ['ns/a', 'ns/b'], ['x'])]));
    expect(['ns/a', 'ns/b'].map((gateway) => first.get(gateway)?.upserts.get(shared.key))).toEqual([
      refused,
      endpoints('x', '10.0.0.1'),
    ]);
    expect(
      split
        .apply(change([{ ...shared, addresses: [] }]))
        .get('ns/a')
        ?.upserts.get(shared.key),
    ).toEqual(refused);
  });

  test('a listener of a ListenerSet belongs to the Gateway that serves it', () => {
    const added: ListenerConfig = {
      ...listener('ns/a'),
      key: 'listener/ns/a/other/extra/http',
      owner: 'ListenerSet/other/extra',
    };
    const attached = { ...route('r', [], ['x']), attachments: [{ listener: added.key, hostnames: [''] }] };
    expect(summary(new ConfigurationByGateway().apply(change([added, attached])))).toEqual([
      `ns/a: +${added.key} +route/HTTPRoute/ns/r`,
    ]);
  });

  test('the authorization servers of a listener need endpoints', () => {
    const all = new ConfigurationByGateway();
    const guarded: ListenerConfig = { ...listener('ns/a'), filters: [authorizedBy('auth')] };
    const auth: EndpointsConfig = { kind: 'endpoints', key: 'endpoints/shop/auth/80', addresses: [] };
    expect(summary(all.apply(change([guarded, listener('ns/b'), auth])))).toEqual([
      'ns/a: +listener/ns/a/http +endpoints/shop/auth/80',
      'ns/b: +listener/ns/b/http',
    ]);
    expect(summary(all.apply(change([listener('ns/a')])))).toEqual([
      'ns/a: +listener/ns/a/http -endpoints/shop/auth/80',
    ]);
  });

  test('mirrors need endpoints too, and the certificate for backends goes along with those for clients', () => {
    const mirror = (service: string) => ({
      type: 'mirror' as const,
      target: { type: 'endpoints' as const, key: `endpoints/ns/${service}/80` },
      numerator: 1,
      denominator: 1,
    });
    const mirroring = route('r', ['ns/a'], ['x']);
    const rules = mirroring.rules.map((rule) => ({
      ...rule,
      filters: [mirror('y')],
      backends: rule.backends.map((backend) => ({ ...backend, filters: [mirror('z')] })),
    }));
    const resources = [
      { ...listener('ns/a', 'ns/front'), backendCertificate: 'ns/back' },
      certificate('front', '1'),
      certificate('back', '1'),
      endpoints('x'),
      endpoints('y'),
      endpoints('z'),
    ];
    expect(summary(new ConfigurationByGateway().apply(change([...resources, { ...mirroring, rules }])))).toEqual([
      'ns/a: +listener/ns/a/http +certificate/ns/front +certificate/ns/back +route/HTTPRoute/ns/r +endpoints/ns/y/80 +endpoints/ns/x/80 +endpoints/ns/z/80',
    ]);
  });

  test('the certificate that endpoints need goes where the endpoints go, and changes with them', () => {
    const split = new ConfigurationByGateway();
    const over = (secret?: string): EndpointsConfig => ({
      ...endpoints('x'),
      tls: {
        serverName: 'x',
        subjectAltNames: [],
        authorities: 'system',
        clientCertificate: secret === undefined ? 'none' : { secret },
      },
    });
    const both = [certificate('one', '1'), certificate('two', '2')];
    expect(summary(split.apply(change([...both, over('ns/one'), endpoints('y')])))).toEqual([]);
    expect(summary(split.apply(change([route('r', ['ns/a'], ['x']), route('s', ['ns/b'], ['y'])])))).toEqual([
      'ns/a: +route/HTTPRoute/ns/r +endpoints/ns/x/80 +certificate/ns/one',
      'ns/b: +route/HTTPRoute/ns/s +endpoints/ns/y/80',
    ]);
    expect(summary(split.apply(change([certificate('one', '3')])))).toEqual(['ns/a: +certificate/ns/one']);
    expect(summary(split.apply(change([over('ns/two')])))).toEqual([
      'ns/a: +endpoints/ns/x/80 +certificate/ns/two -certificate/ns/one',
    ]);
    expect(summary(split.apply(change([route('t', ['ns/a'], ['x'])])))).toEqual(['ns/a: +route/HTTPRoute/ns/t']);
    expect(summary(split.apply(change([], ['route/HTTPRoute/ns/r'])))).toEqual(['ns/a: -route/HTTPRoute/ns/r']);
    expect(summary(split.apply(change([route('t', ['ns/b'], ['x'])])))).toEqual([
      'ns/a: -route/HTTPRoute/ns/t -endpoints/ns/x/80 -certificate/ns/two',
      'ns/b: +route/HTTPRoute/ns/t +endpoints/ns/x/80 +certificate/ns/two',
    ]);
    expect(summary(split.apply(change([over()])))).toEqual(['ns/b: +endpoints/ns/x/80 -certificate/ns/two']);
    split.apply(change([over('ns/one')]));
    expect(summary(split.apply(change([], ['endpoints/ns/x/80'])))).toEqual([
      'ns/b: -endpoints/ns/x/80 -certificate/ns/one',
    ]);
    expect(summary(split.apply(change([over('ns/two')])))).toEqual(['ns/b: +endpoints/ns/x/80 +certificate/ns/two']);
  });

  test('a certificate of a listener stays while only the endpoints that also need it go', () => {
    const split = new ConfigurationByGateway();
    const tls = {
      serverName: 'x',
      subjectAltNames: [],
      authorities: 'system',
      clientCertificate: { secret: 'ns/front' },
    } as const;
    split.apply(
      change([
        listener('ns/a', 'ns/front'),
        certificate('front', '1'),
        { ...endpoints('x'), tls },
        route('r', ['ns/a'], ['x']),
      ]),
    );
    expect(summary(split.apply(change([], ['route/HTTPRoute/ns/r'])))).toEqual([
      'ns/a: -route/HTTPRoute/ns/r -endpoints/ns/x/80',
    ]);
    expect(summary(split.apply(change([], ['listener/ns/a/http'])))).toEqual([
      'ns/a: -listener/ns/a/http -certificate/ns/front',
    ]);
  });

  test('endpoints that change go to those that use them, and come when they appear after the route', () => {
    const split = new ConfigurationByGateway();
    expect(summary(split.apply(change([route('r', ['ns/a'], ['x'])])))).toEqual(['ns/a: +route/HTTPRoute/ns/r']);
    expect(summary(split.apply(change([endpoints('x', '10.0.0.1')])))).toEqual(['ns/a: +endpoints/ns/x/80']);
    expect(summary(split.apply(change([endpoints('y')])))).toEqual([]);
    expect(summary(split.apply(change([], ['endpoints/ns/x/80'])))).toEqual(['ns/a: -endpoints/ns/x/80']);
    expect(summary(split.apply(change([endpoints('x', '10.0.0.2')])))).toEqual(['ns/a: +endpoints/ns/x/80']);
  });

  test('a route that moves takes along what nobody else uses', () => {
    const split = new ConfigurationByGateway();
    split.apply(
      change([endpoints('x'), endpoints('y'), route('r', ['ns/a'], ['x', 'y']), route('s', ['ns/a'], ['y'])]),
    );
    expect(summary(split.apply(change([route('r', ['ns/b'], ['x', 'y'])])))).toEqual([
      'ns/a: -route/HTTPRoute/ns/r -endpoints/ns/x/80',
      'ns/b: +route/HTTPRoute/ns/r +endpoints/ns/x/80 +endpoints/ns/y/80',
    ]);
  });

  test('a route that uses another Service changes endpoints in the same transaction', () => {
    const split = new ConfigurationByGateway();
    split.apply(change([endpoints('x'), endpoints('y'), route('r', ['ns/a'], ['x'])]));
    expect(summary(split.apply(change([route('r', ['ns/a'], ['y'])])))).toEqual([
      'ns/a: +route/HTTPRoute/ns/r +endpoints/ns/y/80 -endpoints/ns/x/80',
    ]);
  });

  test('a certificate goes to the Gateways whose listeners name it, and to no other', () => {
    const split = new ConfigurationByGateway();
    expect(
      summary(
        split.apply(
          change([certificate('one', 'old'), certificate('other', 'x'), listener('ns/a', 'ns/one'), listener('ns/b')]),
        ),
      ),
    ).toEqual(['ns/a: +listener/ns/a/http +certificate/ns/one', 'ns/b: +listener/ns/b/http']);
    expect(summary(split.apply(change([certificate('one', 'new')])))).toEqual(['ns/a: +certificate/ns/one']);
    expect(summary(split.apply(change([listener('ns/a', 'ns/other')])))).toEqual([
      'ns/a: +listener/ns/a/http +certificate/ns/other -certificate/ns/one',
    ]);
  });

  test('what goes is removed from those that had it', () => {
    const split = new ConfigurationByGateway();
    split.apply(change([listener('ns/a'), endpoints('x'), route('r', ['ns/a'], ['x'])]));
    expect(
      summary(split.apply(change([], ['route/HTTPRoute/ns/r', 'listener/ns/a/http', 'endpoints/ns/x/80']))),
    ).toEqual(['ns/a: -route/HTTPRoute/ns/r -endpoints/ns/x/80 -listener/ns/a/http']);
  });
});

describe('the keys for session persistence', () => {
  const keysWith = (secret: string): SessionKeysResource => ({
    kind: 'sessionKeys',
    key: 'sessionKeys/current',
    keys: [{ id: '00000001', secret: Buffer.alloc(32, secret).toString('base64url'), from: 5 }],
  });
  const sticky = (name: string, ...gateways: readonly string[]): RouteConfig => {
    const plain = route(name, gateways, ['x']);
    const session = { type: 'header', identity: name, name: 'x-session' } as const;
    return { ...plain, rules: plain.rules.map((rule) => ({ ...rule, session })) };
  };

  test('go to the Gateways whose routes use them, each with keys of its own', () => {
    const split = new ConfigurationByGateway();
    const listeners = ['ns/a', 'ns/b', 'ns/c'].map((gateway) => listener(gateway));
    const changes = split.apply(
      change([...listeners, sticky('r', 'ns/a', 'ns/b'), route('s', ['ns/c'], ['x']), keysWith('1')]),
    );
    const secretFor = (gateway: string, changed = changes) => {
      const held = changed.get(gateway)?.upserts.get('sessionKeys/current');
      return held?.kind === 'sessionKeys' ? held.keys[0]?.secret : undefined;
    };
    expect(secretFor('ns/c')).toBeUndefined();
    expect(new Set([secretFor('ns/a'), secretFor('ns/b'), keysWith('1').keys[0]?.secret]).size).toBe(3);
    // The same on every replica of the controller, and others with others.
    const other = new ConfigurationByGateway();
    expect(secretFor('ns/a', other.apply(change([keysWith('1'), listener('ns/a'), sticky('r', 'ns/a')])))).toBe(
      secretFor('ns/a'),
    );
    expect(secretFor('ns/a', split.apply(change([keysWith('2')])))).not.toBe(secretFor('ns/a'));
  });

  test('leave a Gateway with its last route that uses them', () => {
    const split = new ConfigurationByGateway();
    split.apply(change([listener('ns/a'), sticky('r', 'ns/a'), sticky('s', 'ns/a'), keysWith('1')]));
    expect(split.apply(change([], ['route/HTTPRoute/ns/r'])).get('ns/a')?.removals).toEqual(
      new Set(['route/HTTPRoute/ns/r']),
    );
    expect(split.apply(change([route('s', ['ns/a'], ['x'])])).get('ns/a')?.removals).toEqual(
      new Set(['sessionKeys/current']),
    );
  });
});

test('after its preparation, a change is applied and published without reading the backends again', () => {
  let reads = 0;
  const counted = (resource: RouteConfig): RouteConfig => {
    const rules = resource.rules.map(({ backends, ...rule }) =>
      Object.defineProperty({ ...rule, backends }, 'backends', {
        enumerable: true,
        get() {
          reads += 1;
          return backends;
        },
      }),
    );
    return { ...resource, rules };
  };
  const byGateway = new ConfigurationByGateway();
  const source = new ConfigurationSource();
  const upserts = [
    listener('ns/one'),
    endpoints('a', '10.0.0.1'),
    ...['x', 'y', 'z'].map((name) => counted(route(name, ['ns/one'], ['a']))),
  ];
  let steps = 0;
  for (const _step of byGateway.prepare(upserts)) steps += 1;
  expect(steps).toBeGreaterThanOrEqual(upserts.length);
  const before = reads;
  expect(before).toBeGreaterThan(0);
  for (const { upserts: published, removals } of byGateway.apply(change(upserts)).values())
    expect(source.publish(published.values(), removals)).toBe(1);
  expect(reads).toBe(before);
});
