import { afterEach, describe, expect, test } from '@jest/globals';
import { AddressPool, type AddressRequest } from '../../../src/controller/address-pool.ts';
import type { ObjectChange, WireObject, WriteResult } from '../../../src/controller/ports.ts';
import { parseAddressRange } from '../../../src/core/text/ip-address.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';

const poolClass = 'sallyport.dev/address-pool';
const pools: AddressPool[] = [];

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.stop();
});

/** The Service of Gateway `shop/<gateway>`, as it stands in the cluster. */
function service(gateway: string, addresses: readonly string[] = [], spec: object = {}): WireObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'shop',
      name: `${gateway}-sallyport`,
      labels: { 'app.kubernetes.io/managed-by': 'sallyport' },
      ownerReferences: [{ kind: 'Gateway', name: gateway, controller: true }],
    },
    spec: { type: 'LoadBalancer', loadBalancerClass: poolClass, ipFamilies: ['IPv4'], ports: [{ port: 80 }], ...spec },
    status: {
      conditions: [{ type: 'Theirs' }],
      ...(addresses.length > 0 && { loadBalancer: { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) } }),
    },
  };
}

function upsert(object: WireObject): ObjectChange {
  const { namespace = '', name } = object.metadata;
  return { type: 'upsert', ref: { group: '', kind: 'Service', namespace, name }, object };
}

function gone(gateway: string): ObjectChange {
  return { type: 'delete', ref: { group: '', kind: 'Service', namespace: 'shop', name: `${gateway}-sallyport` } };
}

interface Setting {
  /** Gateway → what it wants; any address unless given. */
  readonly wishes?: Record<string, Partial<AddressRequest>>;
  readonly ranges?: readonly string[];
  readonly answer?: (object: WireObject) => WriteResult | undefined;
}

/** An API server with Services, and a pool of 10.0.0.0 and 10.0.0.1 that hears of them. */
function started({ wishes = {}, ranges = ['10.0.0.0/31'], answer = () => undefined }: Setting = {}) {
  const parsed = ranges.map(parseAddressRange).flatMap((one) => (one.ok ? [one.range] : []));
  const world = { leads: true, version: 0, wishes, answer };
  const written: string[] = [];
  const stored = new Map<string, WireObject>();
  const store = (object: WireObject): WireObject => {
    const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String((world.version += 1)) } };
    stored.set(object.metadata.name, versioned);
    return versioned;
  };
  const pool: AddressPool = new AddressPool({
    ranges: parsed,
    mayWrite: () => world.leads,
    onProblem: () => {},
    log: createLogger('silent'),
    metrics: createMetrics(),
    pace: { rest: 1, retry: 1 },
    requestOf: (gateway) => ({ since: '2026', addresses: [], ...world.wishes[gateway.slice('shop/'.length)] }),
    writer: {
      async updateStatus(kind, object) {
        const texts = ingressOf(object).join(' ');
        written.push(`${kind} ${object.metadata.name}: ${texts}`);
        const refused = world.answer(object);
        if (refused !== undefined) return refused;
        const result = store(object);
        pool.observe([upsert(result)]);
        return { type: 'ok', object: result };
      },
    },
  });
  pools.push(pool);
  return {
    pool,
    world,
    written,
    put: (...objects: readonly WireObject[]) => pool.observe(objects.map((object) => upsert(store(object)))),
    drop: (gateway: string) => {
      stored.delete(`${gateway}-sallyport`);
      pool.observe([gone(gateway)]);
    },
    addresses: (gateway: string) => ingressOf(stored.get(`${gateway}-sallyport`)),
    stored: (gateway: string) => stored.get(`${gateway}-sallyport`),
  };
}

function ingressOf(object: WireObject | undefined): readonly string[] {
  const { loadBalancer } = (object?.['status'] ?? {}) as {
    readonly loadBalancer?: { readonly ingress: readonly { readonly ip: string }[] };
  };
  return (loadBalancer?.ingress ?? []).map(({ ip }) => ip);
}

const wants = (...values: readonly string[]): Partial<AddressRequest> => ({
  addresses: values.map((value) => ({ type: 'IPAddress', value })),
});

describe('the address pool', () => {
  test('writes an address into the status of a Service, and touches nothing else of it', async () => {
    const { put, stored, written } = started();
    const before = service('web');
    put(before);
    await eventually(() =>
      expect(stored('web')).toEqual({
        ...before,
        metadata: { ...before.metadata, resourceVersion: '2' },
        status: { conditions: [{ type: 'Theirs' }], loadBalancer: { ingress: [{ ip: '10.0.0.0' }] } },
      }),
    );
    expect(written).toEqual(['Service web-sallyport: 10.0.0.0']);
  });

  test.each<[string, WireObject]>([
    ['another class', service('web', [], { loadBalancerClass: 'example.com/other' })],
    ['no class', service('web', [], { loadBalancerClass: undefined })],
    ['another type', service('web', [], { type: 'NodePort' })],
    ['somebody else', { ...service('web'), metadata: { namespace: 'shop', name: 'web-sallyport' } }],
    ['another name', { ...service('web'), metadata: { ...service('web').metadata, name: 'mine' } }],
  ])('never writes to Services of %s', async (_, object) => {
    const { put, written, addresses } = started();
    put(object, service('other'));
    await eventually(() => expect(addresses('other')).toEqual(['10.0.0.0']));
    expect(written).toEqual(['Service other-sallyport: 10.0.0.0']);
  });

  test('without addresses does nothing at all', async () => {
    const { put, written } = started({ ranges: [] });
    put(service('web', ['192.0.2.1']));
    await new Promise(setImmediate);
    expect(written).toEqual([]);
  });

  test('is written by the leader only, who goes on from what Services say', async () => {
    const { put, world, written, pool, addresses } = started();
    world.leads = false;
    put(service('a'), service('b', ['10.0.0.0']));
    await new Promise(setImmediate);
    expect(written).toEqual([]);
    world.leads = true;
    pool.becomeLeader();
    await eventually(() => expect(addresses('a')).toEqual(['10.0.0.1']));
    expect(written).toEqual(['Service a-sallyport: 10.0.0.1']);
  });

  test('that is exhausted says so, until a Service goes', async () => {
    const { put, drop, pool, addresses } = started();
    put(service('a'), service('b'), service('c'));
    await eventually(() => expect([addresses('a'), addresses('b')]).toEqual([['10.0.0.0'], ['10.0.0.1']]));
    expect(pool.problemOf('shop/c')).toMatchObject({
      reason: 'AddressNotAssigned',
      message: expect.stringContaining('10.0.0.0/31'),
    });
    expect(pool.problemOf('shop/a')).toBeUndefined();
    drop('a');
    await eventually(() => expect(addresses('c')).toEqual(['10.0.0.0']));
    await eventually(() => expect(pool.problemOf('shop/c')).toBeUndefined());
  });

  test('gives an address that is asked for to the oldest who asks, tells the other one, and gives it to that one when it is free', async () => {
    const { put, pool, world, addresses } = started({
      wishes: { young: { ...wants('10.0.0.1'), since: '2026-02' }, old: { ...wants('10.0.0.1'), since: '2026-01' } },
    });
    put(service('young'), service('old'));
    await eventually(() => expect(addresses('old')).toEqual(['10.0.0.1']));
    expect(pool.problemOf('shop/young')).toMatchObject({
      reason: 'AddressNotUsable',
      message: expect.stringContaining('10.0.0.1 is already assigned to Gateway "shop/old".'),
    });
    world.wishes['old'] = wants('10.0.0.0');
    pool.enqueue('shop/old');
    await eventually(() => expect([addresses('old'), addresses('young')]).toEqual([['10.0.0.0'], ['10.0.0.1']]));
    await eventually(() => expect(pool.problemOf('shop/young')).toBeUndefined());
  });

  test('frees what was given up only once it is known to be', async () => {
    const refused: WriteResult = { type: 'unavailable', message: 'busy' };
    const { put, pool, world, addresses, written } = started({ wishes: { b: wants('10.0.0.0') } });
    put(service('a', ['10.0.0.0']), service('b'));
    await eventually(() => expect(pool.problemOf('shop/b')?.message).toContain('Gateway "shop/a"'));
    world.wishes['a'] = wants('10.0.0.1');
    world.answer = () => refused;
    pool.enqueue('shop/a');
    await eventually(() => expect(written.filter((line) => line.startsWith('Service a')).length).toBeGreaterThan(1));
    expect(written.filter((line) => line.startsWith('Service b'))).toEqual([]);
    world.answer = () => undefined;
    await eventually(() => expect([addresses('a'), addresses('b')]).toEqual([['10.0.0.1'], ['10.0.0.0']]));
  });

  test('leaves a Gateway alone that must stay as it is', async () => {
    const { put, written, addresses } = started({ wishes: { a: { addresses: 'unchanged' } } });
    put(service('a', ['192.0.2.1']), service('b'));
    await eventually(() => expect(addresses('b')).toEqual(['10.0.0.0']));
    expect(written).toEqual(['Service b-sallyport: 10.0.0.0']);
  });

  test('tells what the API server refuses, and tries again', async () => {
    const { put, pool, world, addresses } = started({ answer: () => ({ type: 'forbidden', message: 'may not' }) });
    put(service('a'));
    await eventually(() =>
      expect(pool.problemOf('shop/a')).toEqual({
        reason: 'AddressNotAssigned',
        message: 'Cannot assign an address of the pool to Service "shop/a-sallyport": may not',
      }),
    );
    world.answer = () => undefined;
    await eventually(() => expect(addresses('a')).toEqual(['10.0.0.0']));
    await eventually(() => expect(pool.problemOf('shop/a')).toBeUndefined());
  });

  test('repairs what others write, and does not believe an old state', async () => {
    const { put, pool, addresses, written } = started();
    const old = service('a');
    put(old);
    await eventually(() => expect(addresses('a')).toEqual(['10.0.0.0']));
    pool.observe([upsert({ ...old, metadata: { ...old.metadata, resourceVersion: '1' } })]);
    put(service('b'));
    await eventually(() => expect(addresses('b')).toEqual(['10.0.0.1']));
    expect(written).toHaveLength(2);
    put(service('a', ['192.0.2.9']));
    await eventually(() => expect(addresses('a')).toEqual(['10.0.0.0']));
  });

  test('gives many Services addresses of their own, whoever leads in between', async () => {
    const { put, pool, world, addresses } = started({ ranges: ['10.0.0.0/26'] });
    const names = Array.from({ length: 64 }, (_, index) => `g${index}`);
    put(...names.map((name) => service(name)));
    world.leads = false;
    await new Promise(setImmediate);
    world.leads = true;
    pool.becomeLeader();
    await eventually(() => expect(new Set(names.flatMap(addresses)).size).toBe(64));
    expect(names.flatMap(addresses)).toHaveLength(64);
  });

  test('tells a few of the Gateways that wait in each turn', async () => {
    const { put, pool, drop, addresses } = started();
    const names = Array.from({ length: 1_000 }, (_, index) => `g${String(index).padStart(3, '0')}`);
    const told = (): number => names.filter((name) => pool.problemOf(`shop/${name}`) !== undefined).length;
    put(...names.map((name) => service(name)));
    expect(told()).toBeLessThan(names.length / 2);
    await eventually(() => expect(told()).toBe(names.length - 2));
    drop('g000');
    await eventually(() => expect(addresses('g002')).toEqual(['10.0.0.0']));
    await eventually(() => expect(pool.problemOf('shop/g002')).toBeUndefined());
    expect(told()).toBe(names.length - 3);
  });

  test('gives nothing more after its end', async () => {
    const { put, pool, world, written } = started({ answer: () => ({ type: 'unavailable', message: 'busy' }) });
    put(service('a'));
    world.leads = false;
    await pool.stop();
    expect(written).toHaveLength(1);
  });
});
