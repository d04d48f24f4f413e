import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { healthyHost as host, healthyObjects } from '../support/healthy-objects.ts';
import { hostileLabel, hostileObjects, type Aim, type HostileObject } from '../support/hostile-objects.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject, kubectlOutput } from './support/kubectl.ts';
import { loosenCrds } from './support/loose-crds.ts';
import { metricsOf, systemNamespace } from './support/sallyport.ts';
import { openStore, type Store } from './support/store.ts';
import { waitFor } from './support/wait.ts';

// Objects that no schema would take, beside healthy ones: what the API server stores, controller and data planes live with.
const shop = useNamespace('hostile-shop');
const infra = useNamespace('hostile-infra');
const aim: Aim = { namespaces: [shop, infra], gateway: 'front' };
const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
const count = Number(process.env['HOSTILE_COUNT'] ?? 10_000);

let backend: Server;
let store: Store;
let objects: readonly HostileObject[] = [];
let traffic: Traffic | undefined;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await loosenCrds('v1.7.0', 'standard');
  await installController();
  const node = await kubectlOutput([
    'get',
    'nodes',
    '-o',
    'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}',
  ]);
  backend = createServer((_, response) => response.end('healthy')).listen(0, node);
  await once(backend, 'listening');
  const { port } = backend.address() as AddressInfo;
  await apply(...healthyObjects(aim, { address: node, port }));
  await waitForGateway('front', infra, ['Programmed', 'True']);
  store = await openStore();
  objects = hostileObjects(seed, count, aim);
});

afterAll(async () => {
  await traffic?.stop();
  await deleteHostile();
  await store.close();
  backend.close();
  await uninstallController();
  await removeCrds();
});

const healthyKinds = ['gateway/front', 'listenerset/steady', 'httproute/steady', 'grpcroute/steady'] as const;

/** The statuses of the healthy objects and of the class. */
async function healthyStatuses(): Promise<Readonly<Record<string, unknown>>> {
  const names = [...healthyKinds.map((name) => [name, '-n', infra]), ['gatewayclass/sallyport']];
  const statuses = await Promise.all(
    names.map(async (args) => [args[0] ?? '', (await getObject<{ readonly status: unknown }>(args)).status] as const),
  );
  return Object.fromEntries(statuses);
}

/** Without the counts, to which everybody who attaches adds. */
function withoutCounts(statuses: unknown): unknown {
  return JSON.parse(
    JSON.stringify(statuses, (key, value: unknown) =>
      key === 'attachedRoutes' || key === 'attachedListenerSets' ? undefined : value,
    ),
  );
}

/** Status and body of the answer to a request for the healthy host. */
async function ask(address: string, port: number): Promise<string> {
  const asked = get({ host: address, port, headers: { host } });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return `${answer.statusCode} ${await text(answer)}`;
}

/** In each of the two namespaces, besides the pods that are there. */
const hostilePodsAtMost = 6;

const healthyAnswer = '200 healthy';

interface Traffic {
  /** May be called again. */
  stop(): Promise<{ readonly answered: number; readonly failures: readonly string[] }>;
}

/** Requests to a healthy route, through its Gateway and through its ListenerSet, until `stop`; gives what went wrong. */
function steadyTraffic(address: string): Traffic {
  const failures: string[] = [];
  let answered = 0;
  const stopping = new AbortController();
  const work = [80, 8081].map(async (port) => {
    while (!stopping.signal.aborted) {
      const answer = await ask(address, port).catch(String);
      if (answer === healthyAnswer) answered += 1;
      else failures.push(`${new Date().toISOString()} port ${port}: ${answer}`);
      await pause(20);
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(work);
      return { answered, failures };
    },
  };
}

interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly containers: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: {
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const gatewayLabel = 'gateway.networking.k8s.io/gateway-name';

/** The pods of the controller and of the healthy Gateway's data plane. */
async function ourPods(): Promise<readonly Pod[]> {
  return (await Promise.all([podsIn(systemNamespace), podsIn(infra, `${gatewayLabel}=front`)])).flat();
}

/** The pods of data planes of hostile Gateways. */
async function hostilePods(): Promise<readonly Pod[]> {
  return (await Promise.all([podsIn(shop), podsIn(infra, `${gatewayLabel}!=front`)])).flat();
}

async function podsIn(namespace: string, ...selector: readonly string[]): Promise<readonly Pod[]> {
  const { items } = await getObject<{ readonly items: readonly Pod[] }>([
    'pods',
    '-n',
    namespace,
    ...selector.flatMap((labels) => ['-l', labels]),
  ]);
  return items;
}

function namesAndRestarts(pods: readonly Pod[]): readonly string[] {
  return pods
    .map(
      ({ metadata, status }) =>
        `${metadata.name} ${(status.containerStatuses ?? []).map(({ restartCount }) => restartCount).join()}`,
    )
    .sort();
}

/** What all pods of ours have written so far, and how many seconds of a processor they have used. */
async function activity(): Promise<{ readonly writes: number; readonly seconds: number }> {
  const samples = (
    await Promise.all(
      (await ourPods()).map(({ metadata: { name, namespace }, spec }) => {
        const port = spec.containers[0]?.ports?.find((one) => one.name === 'probes')?.containerPort;
        return metricsOf({ name, namespace, ...(port === undefined ? {} : { port }) });
      }),
    )
  ).flatMap((metrics) => [...metrics]);
  const sum = (wanted: RegExp): number =>
    samples.reduce((total, [sample, value]) => (wanted.test(sample) ? total + value : total), 0);
  return { writes: sum(/^sallyport_(?:status|provisioning)_writes_total/), seconds: sum(/^process_cpu_seconds_total/) };
}

/** Share of a processor that our pods use together when nothing happens but requests. */
const idle = 0.3;

/** Waits until nothing is written any more, and nothing worked on. */
async function calm(): Promise<void> {
  const window = 10;
  await waitFor(
    'nothing is written any more',
    async () => {
      const before = await activity();
      await pause(window * 1000);
      const after = await activity();
      const share = (after.seconds - before.seconds) / window;
      return after.writes === before.writes && share < idle ? true : undefined;
    },
    240,
  );
}

/** Does something with all of them, so many at a time. Gives how often which answer came. */
async function forAll(
  objects: readonly HostileObject[],
  act: (object: HostileObject) => Promise<number>,
): Promise<Readonly<Record<string, number>>> {
  const answers: Record<string, number> = {};
  const waiting = objects[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const object of waiting) {
        const answer = `${object.kind} ${await act(object)}`;
        answers[answer] = (answers[answer] ?? 0) + 1;
      }
    }),
  );
  return answers;
}

/** Collection by collection; waits until the last has gone. */
async function deleteHostile(): Promise<void> {
  const collections = [...new Set(objects.map(({ collection }) => collection))];
  for (const collection of collections) await store.send('DELETE', `${collection}?labelSelector=${hostileLabel}`);
  await waitFor(
    'everything hostile is gone',
    async () => {
      const left = await Promise.all(
        collections.map((collection) =>
          kubectlOutput(['get', '--raw', `${collection}?labelSelector=${hostileLabel}&limit=1`]),
        ),
      );
      return left.every((list) => (JSON.parse(list) as { readonly items: readonly unknown[] }).items.length === 0)
        ? true
        : undefined;
    },
    120,
  );
}

test('whatever is stored beside them, healthy objects are served and say so, and all is calm again', async () => {
  const { status } = await waitForGateway('front', infra, ['Programmed', 'True']);
  const address = status?.addresses?.[0]?.value ?? '';
  await waitFor('an answer', async () => ((await ask(address, 8081)) === healthyAnswer ? true : undefined));
  await calm();
  const before = await healthyStatuses();
  const pods = namesAndRestarts(await ourPods());
  // Hostile Gateways start data planes, as many as the machine can carry.
  for (const namespace of [shop, infra])
    await kubectlOutput(['create', 'quota', 'some', '-n', namespace, `--hard=pods=${pods.length + hostilePodsAtMost}`]);

  traffic = steadyTraffic(address);
  const begin = performance.now();
  const created = await forAll(objects, ({ collection, text: json }) => store.send('POST', collection, json));
  console.log(`${((performance.now() - begin) / 1000).toFixed(0)} s to create`, created);
  // The API server judges Services, EndpointSlices and Secrets itself.
  expect(
    Object.entries(created).reduce((stored, [answer, times]) => (answer.endsWith(' 201') ? stored + times : stored), 0),
  ).toBeGreaterThan(0.7 * count);
  await forAll(
    objects.filter((object) => object.status !== undefined),
    ({ collection, name, status: patch }) => store.send('PATCH', `${collection}/${name}/status`, patch),
  );
  await calm();
  console.log(`${((performance.now() - begin) / 1000).toFixed(0)} s until calm`);
  expect(withoutCounts(await healthyStatuses())).toEqual(withoutCounts(before));
  expect(namesAndRestarts(await ourPods())).toEqual(pods);
  const started = (await hostilePods()).filter(({ status: { conditions = [] } }) =>
    conditions.some(({ type, status: isReady }) => type === 'Ready' && isReady === 'True'),
  );
  console.log(`${started.length} pods of hostile Gateways are ready`);
  expect(started.length).toBeGreaterThan(0);
  expect(namesAndRestarts(await hostilePods()).filter((pod) => /[1-9]/.test(pod.split(' ')[1] ?? ''))).toEqual([]);

  const deleting = performance.now();
  await deleteHostile();
  await waitFor(
    'everything is as before',
    async () => {
      expect(await healthyStatuses()).toEqual(before);
      return true;
    },
    180,
  );
  console.log(`${((performance.now() - deleting) / 1000).toFixed(0)} s until all is as before`);
  await calm();
  expect(namesAndRestarts(await ourPods())).toEqual(pods);
  const { answered, failures } = await traffic.stop();
  console.log(`${answered} requests answered`);
  expect(failures).toEqual([]);
}, 600_000);
