import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { selectorServiceName } from '../../../src/controller/names.ts';
import type { WireObject, WriteResult } from '../../../src/controller/ports.ts';
import { SelectorServices } from '../../../src/controller/selector-services.ts';
import type { SelectorService } from '../../../src/core/routing/selector-services.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';

const running: SelectorServices[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

/** A cluster that stores Services, and reports each change like a watch. */
function started(pace: Partial<{ rest: number; retry: number; keep: number }> = {}) {
  const calls: string[] = [];
  const stored = new Map<string, WireObject>();
  const wanted = new Map<string, SelectorService>();
  const uids = new Map<string, string>();
  const failures: WriteResult[] = [];
  const rejections: string[] = [];
  const world = { leads: true, isReadable: true, isWatched: true };
  const faults: Error[] = [];
  const throwFault = (): void => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
  };
  const tell = (type: 'upsert' | 'delete', object: WireObject): void => {
    const ref = { group: '', kind: 'Service', namespace: 'shop', name: object.metadata.name };
    services.observe(type === 'upsert' ? { type, ref, object } : { type, ref });
  };
  const services = new SelectorServices({
    log: createLogger('silent'),
    metrics: createMetrics(),
    pace: { rest: 1, retry: 1, keep: 1, ...pace },
    mayWrite: () => world.leads,
    onRejected: (backend, message) => void rejections.push(`${backend}: ${message}`),
    wanted(backend) {
      throwFault();
      return wanted.get(backend);
    },
    uidOf: (backend) => uids.get(backend),
    writer: {
      async read({ metadata }) {
        if (!world.isReadable) return { type: 'unavailable', message: 'later' };
        const object = stored.get(metadata.name);
        return object === undefined ? { type: 'notFound', message: 'no' } : { type: 'ok', object };
      },
      async apply(object) {
        const failure = failures.shift();
        calls.push(`apply ${object.metadata.name}${failure === undefined ? '' : ` ${failure.type}`}`);
        if (failure !== undefined) return failure;
        const written = merged(object, stored.get(object.metadata.name));
        stored.set(object.metadata.name, written);
        if (world.isWatched) tell('upsert', written);
        return { type: 'ok', object: written };
      },
      async remove(object) {
        calls.push(`remove ${object.metadata.name}`);
        if (!stored.delete(object.metadata.name)) return { type: 'notFound', message: 'no' };
        tell('delete', object);
        return { type: 'ok' };
      },
    },
  });
  running.push(services);
  return { services, calls, stored, wanted, uids, failures, faults, rejections, world, tell };
}

/** Server-side apply keeps the ports of others, and the version of an object that does not change. */
function merged(applied: WireObject, present: WireObject | undefined): WireObject {
  const own = portsOf(applied);
  const foreign =
    present === undefined ? [] : portsOf(present).filter(({ name }) => own.every((port) => port.name !== name));
  const { metadata } = applied;
  const content = { ...applied, spec: { ...(applied['spec'] as object), ports: [...own, ...foreign] } };
  const version = Number(present?.metadata.resourceVersion ?? 0);
  const isSame =
    present !== undefined && isDeepStrictEqual(content, { ...present, metadata: { ...present.metadata, ...metadata } });
  return { ...content, metadata: { ...metadata, resourceVersion: String(isSame ? version : version + 1) } };
}

function portsOf({ spec }: WireObject): readonly { readonly name: string }[] {
  return (spec as { readonly ports?: readonly { readonly name: string }[] }).ports ?? [];
}

function selectorsIn({ stored }: ReturnType<typeof started>): readonly unknown[] {
  return [...stored.values()].map(({ spec }) => (spec as { readonly selector: object }).selector);
}

/** Somebody else changes the spec of the only Service. */
function edit({ stored, tell }: ReturnType<typeof started>, change: (spec: object) => object): void {
  const [service] = stored.values();
  if (service === undefined) throw new Error('no Service');
  const resourceVersion = String(Number(service.metadata.resourceVersion) + 1);
  const changed = {
    ...service,
    metadata: { ...service.metadata, resourceVersion },
    spec: change(service['spec'] as object),
  };
  stored.set(service.metadata.name, changed);
  tell('upsert', changed);
}

function need(backend: string, app: string, { wanted, uids, services }: ReturnType<typeof started>): void {
  wanted.set(backend, { selector: { app }, port: 8080 });
  uids.set(backend, `uid-${backend}`);
  services.enqueue(backend);
}

/** Waits until everything that is queued has been done, twice: also what a pause delayed. */
async function settled(calls: readonly string[]): Promise<void> {
  let before = -1;
  await eventually(() => {
    const unchanged = before === calls.length;
    before = calls.length;
    expect(unchanged).toBe(true);
  });
}

/** Writes the Service of another XBackend several times, so that others have time for as many writes. Gives the calls about others. */
async function callsWhileAnotherChanges(cluster: ReturnType<typeof started>): Promise<readonly string[]> {
  for (let turn = 0; turn < 10; turn += 1) {
    need('shop/other', `other-${turn}`, cluster);
    await eventually(() => expect(selectorsIn(cluster)).toContainEqual({ app: `other-${turn}` }));
  }
  const [other = ''] = [...cluster.stored.values()].flatMap(({ metadata }) =>
    metadata.labels?.['sallyport.dev/x-backend'] === 'other' ? [metadata.name] : [],
  );
  return cluster.calls.filter((call) => !call.includes(other));
}

describe('the Service of an XBackend', () => {
  test('is written for namespaces in turns', async () => {
    const { services, calls, wanted, uids } = started();
    const backends = [...Array.from({ length: 20 }, (_, index) => `busy/b${index}`), 'shop/b'];
    for (const backend of backends) {
      uids.set(backend, `uid of ${backend}`);
      wanted.set(backend, { selector: { app: 'a' }, port: 80 });
      services.enqueue(backend);
    }
    await eventually(() => expect(calls).toHaveLength(backends.length));
    expect(calls.indexOf(`apply ${selectorServiceName('uid of shop/b')}`)).toBeLessThan(10);
  });

  test('is headless, selects the pods, belongs to the XBackend and is applied once', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.calls).toHaveLength(1));
    cluster.services.enqueue('shop/cart');
    await settled(cluster.calls);
    expect(cluster.calls).toHaveLength(1);
    const [service] = cluster.stored.values();
    expect(service).toMatchObject({
      kind: 'Service',
      metadata: {
        namespace: 'shop',
        name: expect.stringMatching(/^sallyport-backend-[0-9a-f]{10}$/),
        labels: { 'sallyport.dev/x-backend': 'cart', 'sallyport.dev/x-backend-uid': 'uid-shop/cart' },
        ownerReferences: [{ kind: 'XBackend', name: 'cart', uid: 'uid-shop/cart' }],
      },
      spec: {
        clusterIP: 'None',
        selector: { app: 'cart' },
        ports: [
          { port: 8080, targetPort: 8080, protocol: 'TCP' },
          { port: 8080, targetPort: 8080, protocol: 'UDP' },
        ],
      },
    });
  });

  // With 10,000 of them, their writes took 48 seconds.
  test('is looked up a few times for each XBackend, however many others rest after a write', async () => {
    const { services, calls, stored, wanted, uids } = started({ rest: 100 });
    const names = Array.from({ length: 2_000 }, (_, index) => `shop/b${index}`);
    for (const name of names) {
      wanted.set(name, { selector: { app: name }, port: 80 });
      uids.set(name, `uid-${name}`);
    }
    const lookup = jest.spyOn(Map.prototype, 'has');
    services.enqueueAll(names);
    await eventually(() => expect(stored.size).toBe(2_000));
    await settled(calls);
    const lookups = lookup.mock.calls.length;
    lookup.mockRestore();
    expect(calls).toHaveLength(2_000);
    expect(lookups).toBeLessThan(200_000);
  });

  test('follows the selector, and what somebody changes is restored', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    need('shop/cart', 'cart-next', cluster);
    await eventually(() => expect(selectorsIn(cluster)).toEqual([{ app: 'cart-next' }]));
    edit(cluster, (spec) => ({ ...spec, selector: { app: 'mallory' } }));
    await eventually(() => expect(selectorsIn(cluster)).toEqual([{ app: 'cart-next' }]));
    edit(cluster, (spec) => ({ ...spec, selector: { app: 'cart-next', version: 'v1' } }));
    await eventually(() => expect(selectorsIn(cluster)).toEqual([{ app: 'cart-next' }]));
    const [service] = cluster.stored.values();
    if (service === undefined) throw new Error('no Service');
    cluster.stored.clear();
    cluster.tell('delete', service);
    await eventually(() => expect(selectorsIn(cluster)).toEqual([{ app: 'cart-next' }]));
  });

  test('goes when no route uses the XBackend any more, and is replaced for another XBackend of the name', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    const [first] = cluster.stored.keys();
    cluster.uids.set('shop/cart', 'another');
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect([...cluster.stored.keys()]).toEqual([expect.not.stringMatching(String(first))]));
    cluster.wanted.clear();
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect(cluster.stored.size).toBe(0));
  });

  test('stays while a route is replaced: its endpoints take a while to come back', async () => {
    const cluster = started({ keep: 1_000_000 });
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    cluster.wanted.clear();
    cluster.services.enqueue('shop/cart');
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(1);
    need('shop/cart', 'cart', cluster);
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(1);
  });

  test('is left to the garbage collector when the XBackend is deleted', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    cluster.uids.clear();
    cluster.wanted.clear();
    cluster.services.enqueue('shop/cart');
    await settled(cluster.calls);
    expect(cluster.calls).toHaveLength(1);
  });

  test('is written by the leader only, who then does everything', async () => {
    const cluster = started();
    cluster.world.leads = false;
    need('shop/cart', 'cart', cluster);
    await settled(cluster.calls);
    expect(cluster.calls).toEqual([]);
    cluster.world.leads = true;
    cluster.services.enqueueAll(cluster.wanted.keys());
    await eventually(() => expect(cluster.stored.size).toBe(1));
  });

  test('selects more pods when the XBackend drops a label', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    cluster.wanted.set('shop/cart', { selector: { app: 'cart', version: 'v1' }, port: 8080 });
    await eventually(() => expect(cluster.stored.size).toBe(1));
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(selectorsIn(cluster)).toEqual([{ app: 'cart' }]));
  });

  test('is applied once when somebody adds a port, which server-side apply keeps', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    await settled(cluster.calls);
    edit(cluster, (spec) => ({ ...spec, ports: [...portsOf({ metadata: { name: '' }, spec }), { name: 'debug' }] }));
    await eventually(() => expect(cluster.calls).toHaveLength(2));
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(2);
  });

  test('is applied at once when the XBackend changes after a failure', async () => {
    const cluster = started({ retry: 1_000_000 });
    cluster.failures.push({ type: 'invalid', message: 'a label is wrong' });
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.calls).toHaveLength(1));
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect(cluster.stored.size).toBe(1));
  });

  test('is not applied while the present one cannot be read', async () => {
    const cluster = started({ retry: 1_000_000 });
    cluster.world.isReadable = false;
    need('shop/cart', 'cart', cluster);
    await settled(cluster.calls);
    expect(cluster.calls).toEqual([]);
    cluster.world.isReadable = true;
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect(cluster.calls).toHaveLength(1));
  });

  test('that is gone without an event is removed once', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    await settled(cluster.calls);
    cluster.stored.clear();
    cluster.wanted.clear();
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect(cluster.calls).toHaveLength(2));
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(2);
  });

  test('is applied again after a failure', async () => {
    const cluster = started();
    cluster.failures.push({ type: 'unavailable', message: 'later' });
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.calls.map((call) => call.split(' ')[2])).toEqual(['unavailable', undefined]));
  });

  test('is applied again after an unexpected error, which does not keep others waiting', async () => {
    const cluster = started();
    cluster.faults.push(...Array.from({ length: 8 }, () => new Error('a defect')));
    for (let index = 0; index < 8; index += 1) need(`shop/b${index}`, `b${index}`, cluster);
    await eventually(() => expect(cluster.stored.size).toBe(8));
    await cluster.services.stop();
  });

  test('is applied once although its event is late', async () => {
    const cluster = started();
    cluster.world.isWatched = false;
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.calls).toHaveLength(1));
    cluster.world.isWatched = true;
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(1);
    const [service] = cluster.stored.values();
    if (service === undefined) throw new Error('no Service');
    cluster.tell('upsert', service);
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(1);
  });

  // The garbage collector removes it together with the XBackend, as its owner wants.
  test('is the only one that is removed, although somebody else makes one with its label and owner', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    const [service] = cluster.stored.values();
    if (service === undefined) throw new Error('no Service');
    const foreign = { ...service, metadata: { ...service.metadata, name: 'mine' } };
    cluster.stored.set('mine', foreign);
    cluster.tell('upsert', foreign);
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(1);
    cluster.wanted.delete('shop/cart');
    cluster.services.enqueue('shop/cart');
    await eventually(() => expect(cluster.stored.has(service.metadata.name)).toBe(false));
    expect(await callsWhileAnotherChanges(cluster)).toHaveLength(2);
    expect(cluster.stored.has('mine')).toBe(true);
  });

  test('is not delayed by many Services that somebody makes in the name of others, which are all removed', async () => {
    const cluster = started();
    const { calls, stored, tell, wanted, uids } = cluster;
    for (const name of ['a', 'b', 'c', 'd']) {
      wanted.set(`shop/${name}`, { selector: { app: name }, port: 8080 });
      uids.set(`shop/${name}`, `uid-shop/${name}`);
      for (let number = 0; number < 40; number += 1) {
        const uid = `made-${name}-${number}`;
        const ownerReferences = [{ kind: 'XBackend', name, uid }];
        const metadata = { namespace: 'shop', name: selectorServiceName(uid), ownerReferences };
        const service = { apiVersion: 'v1', kind: 'Service', metadata };
        stored.set(metadata.name, service);
        tell('upsert', service);
      }
    }
    need('shop/calm', 'calm', cluster);
    await eventually(() => expect(stored.size).toBe(5));
    const removedBefore = calls.slice(0, calls.indexOf(`apply ${selectorServiceName('uid-shop/calm')}`));
    expect(removedBefore.filter((call) => call.startsWith('remove')).length).toBeLessThanOrEqual(32);
  });

  test('keeps its owner without the label, which is restored', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    const [service] = cluster.stored.values();
    if (service === undefined) throw new Error('no Service');
    const { labels, ...metadata } = service.metadata;
    const unlabeled = { ...service, metadata: { ...metadata, resourceVersion: '9' } };
    cluster.stored.set(metadata.name, unlabeled);
    cluster.tell('upsert', unlabeled);
    // The write waits until the XBackend has rested after the last one.
    await eventually(() => expect(cluster.stored.get(metadata.name)?.metadata.labels).toEqual(labels));
    expect(cluster.rejections).toEqual([]);
  });

  test('of somebody else stays as it is', async () => {
    const probe = started();
    need('shop/cart', 'cart', probe);
    await eventually(() => expect(probe.stored.size).toBe(1));
    const [name = ''] = probe.stored.keys();
    const cluster = started();
    cluster.stored.set(name, { metadata: { namespace: 'shop', name } });
    need('shop/cart', 'cart', cluster);
    await eventually(() =>
      expect(cluster.rejections).toContain(
        `shop/cart: Service "shop/${name}" exists, and the XBackend does not own it. Delete the Service.`,
      ),
    );
    expect(cluster.calls).toEqual([]);
  });
});
