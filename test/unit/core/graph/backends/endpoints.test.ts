import { describe, expect, test } from '@jest/globals';
import {
  endpoints,
  selectedEndpoints,
  selectingLabel,
  selectingLabelValue,
  selectingUidLabel,
} from '../../../../../src/core/graph/backends/endpoints.ts';
import { objectWrites } from '../../../../../src/cluster/object-writes.ts';
import { configuration } from '../../../../../src/core/routing/emit.ts';
import { evaluate, ourClass, serviceWith } from '../../../../support/evaluation.ts';

const service = serviceWith({ ports: [{ port: 8080 }] });
const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { gatewayClassName: 'sallyport', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
};

/** Endpoints 10.0.0.1, 10.0.0.2 … with these conditions, each in a slice of its own. */
function hostsWith(...conditions: readonly unknown[]): readonly string[] {
  const slices = conditions.map((condition, index) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `cart-${index}`, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ port: 8000 }],
    endpoints: [{ addresses: [`10.0.0.${index + 1}`], conditions: condition }],
  }));
  return evaluate([service, ...slices])
    .kernel.read.query(endpoints, 'Service', 'shop', 'cart', '8080')
    .map(({ host }) => host);
}

const ready = { ready: true, serving: true, terminating: false };
const draining = { ready: false, serving: true, terminating: true };

describe('the endpoints of a Service port', () => {
  test.each<readonly [what: string, conditions: readonly unknown[], numbers: readonly number[]]>([
    ['are the ready ones', [ready, { ready: true }, { ready: false }], [1, 2]],
    ['are ready where nothing is said', [undefined, null, {}, { ready: null }, { serving: false }], [1, 2, 3, 4, 5]],
    [
      'are ready where ready says so, as for publishNotReadyAddresses',
      [{ ready: true, serving: false, terminating: true }],
      [1],
    ],
    ['are not those that terminate while another is ready', [draining, ready, draining], [2]],
    [
      'are those that serve while they terminate where none is ready',
      [draining, { ready: false, serving: false, terminating: false }, draining],
      [1, 3],
    ],
    [
      'are none where those that terminate do not serve',
      [
        { ready: false, serving: false, terminating: true },
        { ready: false, terminating: true },
      ],
      [],
    ],
    [
      'are not those that serve and neither are ready nor terminate',
      [
        { ready: false, serving: true, terminating: false },
        { ready: false, serving: true },
      ],
      [],
    ],
    [
      'are not those whose conditions cannot be read',
      [
        { ...draining, serving: 'yes' },
        { ...draining, terminating: 1 },
        { ...draining, ready: 'no' },
      ],
      [],
    ],
  ])('%s', (_, conditions, numbers) => {
    expect(hostsWith(...conditions)).toEqual(numbers.map((number) => `10.0.0.${number}`));
  });

  test('of other slices are not read again when one slice changes', () => {
    const slice = (name: string, address: string) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports: [{ port: 8000 }],
      endpoints: [{ addresses: [address] }],
    });
    const api = 'gateway.networking.k8s.io/v1';
    const { kernel } = evaluate([
      service,
      slice('a', '10.0.0.1'),
      slice('b', '10.0.0.2'),
      ourClass,
      gateway,
      {
        apiVersion: api,
        kind: 'HTTPRoute',
        metadata: { name: 'cart', namespace: 'shop' },
        spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'cart', port: 8080 }] }] },
      },
    ]);
    const addresses = (): readonly unknown[] =>
      [...kernel.emitted(configuration).values()].flatMap((one) => (one.kind === 'endpoints' ? one.addresses : []));
    const [first] = addresses();
    expect(first).toEqual({ host: '10.0.0.1', port: 8000 });
    kernel.apply(objectWrites({ kind: 'EndpointSlice', namespace: 'shop', name: 'b' }, slice('b', '10.0.0.3')));
    const [again, changed] = addresses();
    expect(again).toBe(first);
    expect(changed).toEqual({ host: '10.0.0.3', port: 8000 });
  });

  test.each<readonly [what: string, ports: readonly object[], expected: readonly number[]]>([
    [
      'use the TCP port of two with one name',
      [
        { port: 5353, protocol: 'UDP' },
        { port: 8000, protocol: 'TCP' },
      ],
      [8000],
    ],
    ['use the port without a protocol, which means TCP', [{ port: 5353, protocol: 'UDP' }, { port: 8000 }], [8000]],
    ['are none where the slice has a UDP port only', [{ port: 5353, protocol: 'UDP' }], []],
  ])('%s', (_, ports, expected) => {
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'cart', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: ['10.0.0.1'], conditions: ready }],
    };
    expect(
      evaluate([service, slice])
        .kernel.read.query(endpoints, 'Service', 'shop', 'cart', '8080')
        .map(({ port }) => port),
    ).toEqual(expected);
  });

  test('in two slices at once are ready in either', () => {
    const slice = (name: string, conditions: object): object => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports: [{ port: 8000 }],
      endpoints: [{ addresses: ['10.0.0.1'], conditions }],
    });
    for (const [one, other] of [
      [ready, draining],
      [draining, ready],
    ] as const) {
      const { kernel } = evaluate([service, slice('a', one), slice('b', other)]);
      expect(kernel.read.query(endpoints, 'Service', 'shop', 'cart', '8080')).toEqual([
        { host: '10.0.0.1', port: 8000 },
      ]);
    }
  });
});

describe('the endpoints of a Service whose used ports have too many of them', () => {
  const numbers = Array.from({ length: 150 }, (_, index) => 8000 + index);
  const api = 'gateway.networking.k8s.io/v1';
  const allPorts = numbers.map((port) => ({ name: `port-${port}`, port }));
  const slicesWith = (count: number, parts: object) =>
    Array.from({ length: count }, (_, index) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `cart-${index}`, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ...parts,
    }));
  const outcomesWith = (used: number, slices: readonly object[]): ReadonlySet<string> => {
    const { kernel } = evaluate([
      serviceWith({ ports: allPorts }),
      ...slices,
      ourClass,
      gateway,
      {
        apiVersion: api,
        kind: 'HTTPRoute',
        metadata: { name: 'cart', namespace: 'shop' },
        spec: {
          parentRefs: [{ name: 'web' }],
          rules: Array.from({ length: 10 }, (_, rule) => ({
            backendRefs: numbers
              .slice(rule * 16, Math.min(used, rule * 16 + 16))
              .map((port) => ({ name: 'cart', port })),
          })),
        },
      },
    ]);
    const found = [...kernel.emitted(configuration).values()].filter((one) => one.kind === 'endpoints');
    expect(found).toHaveLength(used);
    return new Set(found.map(({ failure, addresses }) => failure ?? `${addresses.length} addresses`));
  };
  const tooMany = new Set([
    'all ports of the Service have more than 100000 endpoints, where each EndpointSlice counts as at least 16 for each port',
  ]);

  test('are not used', () => {
    const endpoints = Array.from({ length: 1_000 }, (_, index) => ({
      addresses: [`10.0.${index >> 8}.${index & 255}`],
    }));
    const slices = slicesWith(1, { ports: allPorts, endpoints });
    expect(outcomesWith(100, slices)).toEqual(new Set(['1000 addresses']));
    expect(outcomesWith(101, slices)).toEqual(tooMany);
  });

  test('are not used if these are in many slices without endpoints', () => {
    expect(outcomesWith(150, slicesWith(41, { ports: allPorts, endpoints: [] }))).toEqual(new Set(['0 addresses']));
    expect(outcomesWith(150, slicesWith(42, { ports: allPorts, endpoints: [] }))).toEqual(tooMany);
  });

  test('are not used if there are many slices without these ports', () => {
    expect(outcomesWith(150, slicesWith(666, { ports: [], endpoints: [] }))).toEqual(new Set(['0 addresses']));
    expect(outcomesWith(150, slicesWith(667, { ports: [], endpoints: [] }))).toEqual(tooMany);
  });

  test('are not used if the slices have very many ports', () => {
    const ports = Array.from({ length: 10_000 }, (_, index) => ({ name: `port-${index + 1}`, port: index + 1 }));
    expect(outcomesWith(150, slicesWith(1, { ports, endpoints: [] }))).toEqual(new Set(['0 addresses']));
    expect(outcomesWith(150, slicesWith(2, { ports, endpoints: [] }))).toEqual(tooMany);
  });
});

describe('the endpoints that an XBackend selects', () => {
  const slice = (name: string, labels: object, parts: object = {}) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'shop', labels },
    addressType: 'IPv4',
    ports: [
      { name: 'tcp', port: 8080, protocol: 'TCP' },
      { name: 'udp', port: 8080, protocol: 'UDP' },
    ],
    endpoints: [{ addresses: ['10.0.0.2'] }, { addresses: ['10.0.0.1'] }],
    ...parts,
  });
  const selected = (slices: readonly object[], name = 'cart', port = '8080') =>
    evaluate(slices)
      .kernel.read.query(selectedEndpoints, 'shop', name, port)
      .map(({ host, port: number }) => `${host}:${number}`);

  test('are those of the slices with its label, each once', () => {
    const slices = [
      slice('one', { [selectingLabel]: 'cart', 'kubernetes.io/service-name': 'sallyport-backend-1' }),
      slice('two', { [selectingLabel]: 'cart' }),
      slice('other', { [selectingLabel]: 'other' }, { endpoints: [{ addresses: ['10.0.0.9'] }] }),
      slice('service', { 'kubernetes.io/service-name': 'cart' }, { endpoints: [{ addresses: ['10.0.0.8'] }] }),
    ];
    expect(selected(slices)).toEqual(['10.0.0.1:8080', '10.0.0.2:8080']);
  });

  test('have its port and protocol', () => {
    const labels = { [selectingLabel]: 'cart' };
    const slices = [
      slice('both', labels),
      slice('tcp', labels, { ports: [{ port: 8080 }], endpoints: [{ addresses: ['10.0.0.3'] }] }),
      slice('elsewhere', labels, { ports: [{ port: 80 }], endpoints: [{ addresses: ['10.0.0.4'] }] }),
    ];
    expect(selected(slices)).toEqual(['10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.3:8080']);
    expect(selected(slices, 'cart', '8080/UDP')).toEqual(['10.0.0.1:8080', '10.0.0.2:8080']);
  });

  test('are ready, or draining where none is ready', () => {
    const labels = { [selectingLabel]: 'cart' };
    const endpoint = (host: string, conditions: object) => ({ addresses: [host], conditions });
    const drains = endpoint('10.0.0.1', draining);
    expect(selected([slice('one', labels, { endpoints: [drains] })])).toEqual(['10.0.0.1:8080']);
    expect(selected([slice('one', labels, { endpoints: [drains, endpoint('10.0.0.2', ready)] })])).toEqual([
      '10.0.0.2:8080',
    ]);
  });

  test('are not those of a deleted XBackend with the same name', () => {
    const ofUid = (uid: string, host: string): object =>
      slice(uid, { [selectingLabel]: 'cart', [selectingUidLabel]: uid }, { endpoints: [{ addresses: [host] }] });
    const slices = [
      ofUid('old', '10.0.0.1'),
      ofUid('new', '10.0.0.2'),
      slice('by-hand', { [selectingLabel]: 'cart' }, { endpoints: [{ addresses: ['10.0.0.3'] }] }),
    ];
    const backend = (metadata: object): object => ({
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XBackend',
      metadata: { name: 'cart', namespace: 'shop', ...metadata },
      spec: {},
    });
    expect(selected([...slices, backend({ uid: 'new' })])).toEqual(['10.0.0.2:8080', '10.0.0.3:8080']);
    // In a file, the XBackend usually has no uid.
    expect(selected([...slices, backend({})])).toHaveLength(3);
  });

  test('are found for a name that is longer than a label value', () => {
    const name = `${'a'.repeat(60)}.example`;
    const value = selectingLabelValue(name);
    expect(value).toHaveLength(63);
    expect(value).not.toBe(selectingLabelValue(`${'a'.repeat(60)}.another`));
    expect(selected([slice('one', { [selectingLabel]: value })], name)).toHaveLength(2);
  });
});
