import { afterEach, describe, expect, test } from '@jest/globals';
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
function started() {
  const calls: string[] = [];
  const stored = new Map<string, WireObject>();
  const wanted = new Map<string, SelectorService>();
  const uids = new Map<string, string>();
  const failures: WriteResult[] = [];
  const world = { leads: true };
  const tell = (type: 'upsert' | 'delete', object: WireObject): void => {
    const ref = { group: '', kind: 'Service', namespace: 'shop', name: object.metadata.name };
    services.observe(type === 'upsert' ? { type, ref, object } : { type, ref });
  };
  const services = new SelectorServices({
    log: createLogger('silent'),
    metrics: createMetrics(),
    pace: { rest: 1, retry: 1 },
    mayWrite: () => world.leads,
    wanted: (backend) => wanted.get(backend),
    uidOf: (backend) => uids.get(backend),
    writer: {
      async read({ metadata }) {
        const object = stored.get(metadata.name);
        return object === undefined ? { type: 'notFound', message: 'no' } : { type: 'ok', object };
      },
      async apply(object) {
        const failure = failures.shift();
        calls.push(`apply ${object.metadata.name}${failure === undefined ? '' : ` ${failure.type}`}`);
        if (failure !== undefined) return failure;
        stored.set(object.metadata.name, object);
        tell('upsert', object);
        return { type: 'ok', object };
      },
      async remove(object) {
        calls.push(`remove ${object.metadata.name}`);
        stored.delete(object.metadata.name);
        tell('delete', object);
        return { type: 'ok' };
      },
    },
  });
  running.push(services);
  return { services, calls, stored, wanted, uids, failures, world, tell };
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

describe('the Service of an XBackend', () => {
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
        labels: { 'sallyport.dev/x-backend': 'cart' },
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

  test('follows the selector, and what somebody changes is restored', async () => {
    const cluster = started();
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.stored.size).toBe(1));
    need('shop/cart', 'cart-next', cluster);
    const selector = () =>
      [...cluster.stored.values()].map(({ spec }) => (spec as { readonly selector: object }).selector);
    await eventually(() => expect(selector()).toEqual([{ app: 'cart-next' }]));
    const [service] = cluster.stored.values();
    if (service === undefined) throw new Error('no Service');
    const changed = { ...service, spec: { ...(service['spec'] as object), selector: { app: 'mallory' } } };
    cluster.stored.set(service.metadata.name, changed);
    cluster.tell('upsert', changed);
    await eventually(() => expect(selector()).toEqual([{ app: 'cart-next' }]));
    cluster.stored.clear();
    cluster.tell('delete', service);
    await eventually(() => expect(selector()).toEqual([{ app: 'cart-next' }]));
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

  test('is applied again after a failure', async () => {
    const cluster = started();
    cluster.failures.push({ type: 'unavailable', message: 'later' });
    need('shop/cart', 'cart', cluster);
    await eventually(() => expect(cluster.calls.map((call) => call.split(' ')[2])).toEqual(['unavailable', undefined]));
  });

  test('of somebody else stays as it is', async () => {
    const probe = started();
    need('shop/cart', 'cart', probe);
    await eventually(() => expect(probe.stored.size).toBe(1));
    const [name = ''] = probe.stored.keys();
    const cluster = started();
    cluster.stored.set(name, { metadata: { namespace: 'shop', name } });
    need('shop/cart', 'cart', cluster);
    await settled(cluster.calls);
    expect(cluster.calls).toEqual([]);
  });
});
