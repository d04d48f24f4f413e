import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { configuration } from '../../../src/core/routing/emit.ts';
import { closeBackends, startEcho, type Echo } from '../../support/backends.ts';
import { candidateOf, evaluate, ourClass, writeOf } from '../../support/evaluation.ts';
import { closeProxies, portOf, send, startProxy, type Received } from '../../support/proxy.ts';
import { gatewayWith, objectOf, soundRoute } from '../../support/rules.ts';

// XBackends that select pods, from the objects to the sockets. Each pod has an address of loopback, and all have one port.

afterEach(closeProxies);
afterEach(closeBackends);

const listener = 'listener/shop/front/web';
const facts = { bundle: { minor: '1.7', channel: 'experimental' } } as const;
const keys = [{ id: '00000001', secret: randomBytes(32).toString('base64url'), from: 0 }];

/** The conditions of pods by their address. */
type Pods = Readonly<Record<string, object>>;

function slice(backend: string, port: number, pods: Pods): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: backend, namespace: 'shop', labels: { 'sallyport.dev/x-backend': backend } },
    addressType: 'IPv4',
    ports: [{ name: 'tcp', port, protocol: 'TCP' }],
    endpoints: Object.entries(pods).map(([address, conditions]) => ({ addresses: [address], conditions })),
  };
}

const ready = { ready: true };

/** Pods on the addresses 127.0.0.1, 127.0.0.2 …, which answer with their address. */
async function startPods(count: number): Promise<number> {
  const { port } = await startEcho('127.0.0.1');
  for (let index = 2; index <= count; index += 1) {
    const host = `127.0.0.${index}`;
    await startEcho(host, { host, port });
  }
  return port;
}

function xBackend(name: string, port: number, spec: object): object {
  const selecting = {
    type: 'EndpointSelector',
    endpointSelector: { matchLabels: { app: name } },
    port: { number: port },
  };
  const object = objectOf('XBackend', 'v1alpha1', { ...selecting, ...spec }) as object;
  return { ...object, metadata: { namespace: 'shop', name } };
}

/** A data plane of a Gateway whose HTTPRoute sends everything to XBackends with these pods, in equal shares. */
async function startSplit(port: number, backends: Readonly<Record<string, Pods>>, spec: object = {}) {
  const names = Object.keys(backends);
  const backendRefs = names.map((name) => ({ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name }));
  const { kernel } = evaluate(
    [
      ourClass,
      gatewayWith({ name: 'web', port: 8080, protocol: 'HTTP' }),
      soundRoute({ backendRefs }),
      ...names.map((name) => xBackend(name, port, spec)),
      ...Object.entries(backends).map(([name, pods]) => slice(name, port, pods)),
    ],
    facts,
  );
  const resources = () => [...kernel.emitted(configuration).values()];
  const { proxy, apply } = await startProxy(resources(), {
    // One port for each listener.
    bind: ({ key }) => [{ host: key === listener ? '127.0.0.1' : '127.0.0.9', port: 0 }],
  });
  proxy.setSessionKeys(keys);
  return {
    proxy,
    port: portOf(proxy, listener),
    async change(name: string, pods: Pods): Promise<void> {
      const { resource } = candidateOf(slice(name, port, pods), '', facts.bundle);
      kernel.apply([writeOf(resource.ref, resource)]);
      await apply(...resources());
    },
  };
}

/** The same with one XBackend. */
async function start(port: number, pods: Pods, spec: object = {}) {
  const started = await startSplit(port, { cart: pods }, spec);
  return { ...started, change: (changed: Pods) => started.change('cart', changed) };
}

function podOf({ body }: Received): string {
  return (JSON.parse(body) as Echo).backend;
}

async function podsOf(port: number, count: number, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const pods: string[] = [];
  for (let turn = 0; turn < count; turn += 1) pods.push(podOf(await send(port, '/', { headers })));
  return [...new Set(pods)].toSorted();
}

describe('an XBackend that selects pods', () => {
  test('balances over the ready ones, and follows their changes', async () => {
    const pods = { '127.0.0.1': ready, '127.0.0.2': ready, '127.0.0.3': { ready: false } };
    const { port, change } = await start(await startPods(3), pods);
    expect(await podsOf(port, 6)).toEqual(['127.0.0.1', '127.0.0.2']);
    await change({ ...pods, '127.0.0.1': { ready: false }, '127.0.0.3': ready });
    expect(await podsOf(port, 6)).toEqual(['127.0.0.2', '127.0.0.3']);
  });

  test('uses pods that serve while they terminate only without ready ones, and gives a 503 without any', async () => {
    const leaving = { ready: false, serving: true, terminating: true };
    const { port, change } = await start(await startPods(2), { '127.0.0.1': ready, '127.0.0.2': leaving });
    expect(await podsOf(port, 4)).toEqual(['127.0.0.1']);
    await change({ '127.0.0.2': leaving });
    expect(await podsOf(port, 4)).toEqual(['127.0.0.2']);
    await change({});
    expect((await send(port, '/')).status).toBe(503);
  });

  test('keeps a client at its pod while that is ready', async () => {
    const sessionPersistence = { absoluteTimeout: '8h', cookie: { name: 'cart', lifetimeType: 'Permanent' } };
    const pods = { '127.0.0.1': ready, '127.0.0.2': ready, '127.0.0.3': ready };
    const { port, proxy, change } = await start(await startPods(3), pods, { sessionPersistence });
    expect(await podsOf(port, 6)).toHaveLength(3);
    const first = await send(port, '/');
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(/^cart=[\w-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/),
    ]);
    const headers = { cookie: first.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
    expect(await podsOf(port, 6, headers)).toEqual([podOf(first)]);
    expect(proxy.counters().sessions.honored).toBe(6);
    await change({ ...pods, [podOf(first)]: { ready: false } });
    const moved = await send(port, '/', { headers });
    expect([moved.status, podOf(moved) === podOf(first)]).toEqual([200, false]);
    expect(moved.headers['set-cookie']).toHaveLength(1);
    expect(proxy.counters().sessions['endpoint-gone']).toBe(1);
  });

  test('keeps a client at a pod of each XBackend of a split by cookies of one name', async () => {
    const sessionPersistence = { cookie: { name: 'cart' } };
    const backends = {
      cart: { '127.0.0.1': ready, '127.0.0.2': ready },
      'cart-next': { '127.0.0.3': ready, '127.0.0.4': ready },
    };
    const { port, proxy } = await startSplit(await startPods(4), backends, { sessionPersistence });
    let cookie = '';
    for (let turn = 0; turn < 2; turn += 1) {
      const { headers } = await send(port, '/', { headers: { cookie } });
      cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? cookie;
    }
    expect(await podsOf(port, 12, { cookie })).toEqual([
      expect.stringMatching(/[12]$/),
      expect.stringMatching(/[34]$/),
    ]);
    expect(proxy.counters().sessions.honored).toBe(12);
  });

  test('keeps clients by a header', async () => {
    const sessionPersistence = { type: 'Header', header: { name: 'x-session' } };
    const { port } = await start(
      await startPods(2),
      { '127.0.0.1': ready, '127.0.0.2': ready },
      { sessionPersistence },
    );
    const first = await send(port, '/');
    const headers = { 'x-session': String(first.headers['x-session']) };
    expect(await podsOf(port, 4, headers)).toEqual([podOf(first)]);
  });

  test('gets nothing if its sessions are invalid', async () => {
    const sessionPersistence = { cookie: { path: '/;Domain=example.com' } };
    const { port } = await start(await startPods(1), { '127.0.0.1': ready }, { sessionPersistence });
    expect((await send(port, '/')).status).toBe(500);
  });
});
