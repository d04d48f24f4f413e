import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { recordOf } from '../../../src/core/text/record.ts';
import type { WireObject, WriteResult } from '../../../src/controller/ports.ts';
import type { GatewayFacts } from '../../../src/controller/data-plane-manifests.ts';
import { describeDataPlanes } from '../../../src/controller/data-plane-problems.ts';
import { DataPlaneProvisioner, type Need } from '../../../src/controller/data-plane-provisioner.ts';
import type { AddressRange } from '../../../src/core/text/ip-address.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { until } from '../../support/until.ts';
import { tcpPorts } from '../../support/gateway-ports.ts';

const provisioners: DataPlaneProvisioner[] = [];

afterEach(async () => {
  for (const one of provisioners.splice(0)) await one.stop();
});

const facts: GatewayFacts = {
  namespace: 'shop',
  name: 'web',
  uid: 'u1',
  ports: tcpPorts(80),
  addresses: [],
  parameters: {},
  labels: {},
  annotations: {},
};

function started() {
  const calls: string[] = [];
  const logged: string[] = [];
  const world: {
    need: Need;
    leads: boolean;
    result: WriteResult;
    reading: WriteResult;
    pool: readonly AddressRange[];
    writesOfTerm: number;
    /** The Services that the watch knows. */
    services: readonly WireObject[];
    /** The only name that `result` is about. */
    refused?: string;
  } = {
    need: facts,
    leads: true,
    result: { type: 'ok' },
    reading: { type: 'ok' },
    pool: [],
    writesOfTerm: Infinity,
    services: [],
  };
  /** What the cluster holds, by kind. */
  const held = new Map<string, WireObject>();
  const act =
    (step: string) =>
    async ({ kind, metadata, ...rest }: WireObject): Promise<WriteResult> => {
      uids.push(metadata.uid);
      calls.push(
        `${step} ${kind} ${metadata.namespace}/${metadata.name}${step === 'remove' ? ` ${metadata.uid ?? ''}` : ''}`,
      );
      if (calls.length >= world.writesOfTerm) world.leads = false;
      const isMeant = world.refused === undefined || world.refused === metadata.name;
      if ((world.result.type !== 'ok' && isMeant) || step === 'remove') return world.result;
      const uid = held.get(kind ?? '')?.metadata.uid ?? `uid ${version} of ${kind}`;
      const object: WireObject = {
        kind: kind ?? '',
        ...rest,
        metadata: { uid, ...metadata, resourceVersion: String((version += 1)) },
      };
      held.set(kind ?? '', object);
      return { type: 'ok', object };
    };
  let version = 0;
  const problems: (string | undefined)[] = [];
  const deviations: string[] = [];
  /** Named in what was sent. */
  const uids: (string | undefined)[] = [];
  const readings = { now: 0, peak: 0, all: 0 };
  const provisioner: DataPlaneProvisioner = new DataPlaneProvisioner({
    servicesOf: () => world.services,
    writer: {
      apply: act('apply'),
      remove: act('remove'),
      async read({ kind = '', metadata: { name: wanted } }) {
        readings.now += 1;
        readings.all += 1;
        readings.peak = Math.max(readings.peak, readings.now);
        await Promise.resolve();
        readings.now -= 1;
        if (world.reading.type !== 'ok') return world.reading;
        const object = held.get(kind);
        return object?.metadata.name === wanted ? { type: 'ok', object } : { type: 'notFound', message: 'no' };
      },
    },
    onProblem: () => void problems.push(provisioner.problemOf('shop/web')?.message),
    onDrift: (gateway, { kind }) => void deviations.push(`${kind} of ${gateway}`),
    settings: () => ({ image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM', addressPool: world.pool }),
    needOf: (namespace, gateway) =>
      typeof world.need === 'string' ? world.need : { ...world.need, namespace, name: gateway },
    mayWrite: () => world.leads,
    log: createLogger('info', { write: (line) => void logged.push(line) }),
    metrics: createMetrics(),
    retry: 60_000,
  });
  provisioners.push(provisioner);
  /** Tells that an object of this kind is like this now, or gone; and waits for what follows. */
  const see = async (kind: string, change: object | 'gone') => {
    const ref = { group: '', kind, namespace: 'shop', name: 'web-sallyport' };
    const object = held.get(kind) ?? { metadata: { name: '' } };
    if (change === 'gone') held.delete(kind);
    const metadata = { ...object.metadata, resourceVersion: String((version += 1)) };
    provisioner.observe(
      change === 'gone' ? { type: 'delete', ref } : { type: 'upsert', ref, object: { ...object, metadata, ...change } },
    );
    await new Promise(setImmediate);
    return calls.splice(0);
  };
  /** Marks, and waits for what follows. */
  const enqueue = async (step: 'enqueue' | 'recheck' = 'enqueue') => {
    provisioner[step]('shop/web');
    await new Promise(setImmediate);
    return calls.splice(0);
  };
  return { calls, logged, deviations, readings, uids, provisioner, held, problems, world, enqueue, see };
}

const name = 'shop/web-sallyport';
const all = ['ServiceAccount', 'ConfigMap', 'Service', 'Deployment', 'PodDisruptionBudget'].map(
  (kind) => `apply ${kind} ${name}`,
);

describe('provisioning', () => {
  test('everything is applied once, and again when it has changed or was seen to go', async () => {
    const { world, enqueue } = started();
    expect(await enqueue()).toEqual(all);
    expect(await enqueue()).toEqual([]);
    world.need = { ...facts, ports: tcpPorts(80, 81) };
    expect(await enqueue()).toEqual(all);
    expect(await enqueue('recheck')).toEqual(all);
  });

  const metadata = { namespace: 'shop', name: 'web-sallyport', uid: 'u2' };
  const owned = {
    labels: { 'app.kubernetes.io/managed-by': 'sallyport' },
    ownerReferences: [{ kind: 'Gateway', name: 'web', controller: true }],
  };
  const exposed: WireObject = { kind: 'Service', metadata: { ...metadata, ...owned } };
  const inCluster: Need = {
    ...facts,
    addresses: [{ type: 'IPAddress', value: '', routability: 'Cluster' }],
    scopes: ['Cluster'],
  };
  const onlyCluster = all.map((call) => call.replace(`Service ${name}`, `Service ${name}-cluster`));

  test('a Gateway for the cluster never gets another Service', async () => {
    const { world, enqueue } = started();
    world.need = inCluster;
    expect(await enqueue()).toEqual(onlyCluster);
  });

  test('a Service that a Gateway does not need any more goes before anything else is applied', async () => {
    const { world, enqueue } = started();
    await enqueue();
    world.services = [exposed];
    world.need = inCluster;
    expect(await enqueue()).toEqual([`remove Service ${name} u2`, ...onlyCluster]);
    // On its way out, it is not removed twice.
    world.services = [{ ...exposed, metadata: { ...exposed.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }];
    expect(await enqueue('recheck')).toEqual(onlyCluster);
    world.services = [{ ...exposed, metadata: { ...exposed.metadata, name: 'web-sallyport-cluster' } }];
    world.need = facts;
    expect(await enqueue()).toEqual([`remove Service ${name}-cluster u2`, ...all]);
  });

  test('a Service that is seen only after its Gateway does not need it any more is removed', async () => {
    const { provisioner, calls, world, enqueue } = started();
    await enqueue();
    world.need = inCluster;
    expect(await enqueue()).toEqual(onlyCluster);
    const ref = { group: '', kind: 'Service', namespace: 'shop', name: 'web-sallyport' };
    world.services = [exposed];
    provisioner.observe({ type: 'upsert', ref, object: exposed });
    await new Promise(setImmediate);
    expect(calls).toEqual([`remove Service ${name} u2`, ...onlyCluster]);
  });

  test('a Service that nobody needs goes as soon as it is seen', async () => {
    const { provisioner, calls, world, enqueue } = started();
    world.need = inCluster;
    await enqueue();
    const ref = { group: '', kind: 'Service', namespace: 'shop', name: 'web-sallyport' };
    world.services = [exposed];
    provisioner.observe({ type: 'upsert', ref, object: exposed });
    await new Promise(setImmediate);
    expect(calls).toEqual([`remove Service ${name} u2`, ...onlyCluster]);
  });

  test('a cluster IP that the API server refuses costs the address, not the Gateway', async () => {
    const { provisioner, world, enqueue } = started();
    world.need = inCluster;
    world.result = { type: 'invalid', message: 'provided IP is not in the valid range' };
    world.refused = 'web-sallyport-cluster';
    await enqueue();
    const problem = provisioner.problemOf('shop/web');
    expect(problem).toEqual({
      isAboutAddress: true,
      message: `Cannot apply Service "${name}-cluster": provided IP is not in the valid range`,
    });
    expect(
      describeDataPlanes(problem === undefined ? [] : [problem], { ready: 0, late: 0, outdated: 0, remark: '' }),
    ).toEqual({
      remark: '',
      addressProblem: { reason: 'AddressNotAssigned', message: problem?.message },
    });
  });

  test('another cluster IP needs another Service', async () => {
    const { world, held, enqueue } = started();
    const asking = (value: string): Need => ({
      ...facts,
      addresses: [{ type: 'IPAddress', value, routability: 'Cluster' }],
      scopes: ['Cluster'],
    });
    world.need = asking('10.96.0.9');
    await enqueue();
    held.set('Service', {
      kind: 'Service',
      metadata: { ...metadata, ...owned, name: 'web-sallyport-cluster' },
      spec: { clusterIP: '10.96.0.9' },
    });
    expect(await enqueue('recheck')).toEqual(onlyCluster);
    held.set('Service', {
      kind: 'Service',
      metadata: { ...metadata, ...owned, name: 'web-sallyport-cluster' },
      spec: { clusterIP: '10.96.0.9' },
    });
    world.need = asking('10.96.0.10');
    expect(await enqueue()).toEqual(
      onlyCluster.flatMap((call) =>
        call.startsWith('apply Service ') ? [`remove Service ${name}-cluster u2`, call] : [call],
      ),
    );
  });

  test('a Gateway that needs nothing any more loses everything, once', async () => {
    const { held, world, enqueue } = started();
    await enqueue();
    world.need = 'none';
    expect(await enqueue()).toEqual(
      ['PodDisruptionBudget', 'Deployment', 'Service', 'ConfigMap', 'ServiceAccount'].map(
        (kind) => `remove ${kind} ${name} ${held.get(kind)?.metadata.uid}`,
      ),
    );
    expect(await enqueue()).toEqual([]);
  });

  test('what is there stays while a Gateway is refused, and goes with it even so', async () => {
    const { world, enqueue } = started();
    await enqueue();
    world.need = 'unchanged';
    expect(await enqueue()).toEqual([]);
    expect(await enqueue('recheck')).toEqual([]);
    world.need = 'none';
    expect(await enqueue()).toHaveLength(all.length);
  });

  test('nothing is deleted for a Gateway that never was ours', async () => {
    const { world, enqueue } = started();
    world.need = 'none';
    expect(await enqueue()).toEqual([]);
  });

  test('a few Gateways at a time, and all in the end', async () => {
    const { calls, readings, provisioner } = started();
    const names = Array.from({ length: 40 }, (_, index) => `shop/web-${index}`);
    for (const gateway of names) provisioner.enqueue(gateway);
    await until(() => expect(calls).toHaveLength(40 * all.length));
    expect(readings.peak).toBeLessThanOrEqual(8 * all.length);
  });

  test('namespaces take turns', async () => {
    const { calls, provisioner } = started();
    for (let index = 0; index < 40; index += 1) provisioner.enqueue(`busy/web-${index}`);
    provisioner.enqueue('shop/web');
    await until(() => expect(calls).toHaveLength(41 * all.length));
    expect(calls.findIndex((call) => call.includes(' shop/'))).toBeLessThan(20 * all.length);
  });

  test('what somebody changes or deletes is made as it was, and told', async () => {
    const { deviations, enqueue, see } = started();
    await enqueue();
    expect(await see('Deployment', { spec: { template: {} } })).toEqual(all);
    expect(await see('ServiceAccount', 'gone')).toEqual(all);
    expect(await see('Deployment', {})).toEqual([]);
    expect(deviations).toEqual(['Deployment of shop/web', 'ServiceAccount of shop/web']);
  });

  test('pods are replaced when their ServiceAccount is another one, and at no other time', async () => {
    const { held, enqueue, see } = started();
    await enqueue();
    const template = () => recordOf(held.get('Deployment')?.['spec'])['template'];
    const before = template();
    expect(before).toMatchObject({
      metadata: { annotations: { 'sallyport.dev/service-account': held.get('ServiceAccount')?.metadata.uid } },
    });
    await see('ConfigMap', 'gone');
    expect(template()).toEqual(before);
    await see('ServiceAccount', 'gone');
    expect(template()).not.toEqual(before);
    expect(template()).toMatchObject({
      metadata: { annotations: { 'sallyport.dev/service-account': held.get('ServiceAccount')?.metadata.uid } },
    });
  });

  test('what others do is undone by the leader alone, and by the next one', async () => {
    const { deviations, enqueue, see, world } = started();
    await enqueue();
    world.leads = false;
    expect(await see('Service', 'gone')).toEqual([]);
    world.leads = true;
    expect(await enqueue('recheck')).toEqual(all);
    expect(deviations).toEqual([]);
  });

  test('what is removed here is not missed', async () => {
    const { enqueue, see, world } = started();
    await enqueue();
    world.need = 'none';
    await enqueue();
    expect(await see('Service', 'gone')).toEqual([]);
  });

  test('a former leader forgets what it applied for a Gateway that goes', async () => {
    const { deviations, enqueue, problems, provisioner, see, world } = started();
    await enqueue();
    world.result = { type: 'forbidden', message: 'no' };
    await enqueue('recheck');
    Object.assign(world, { leads: false, need: 'none' });
    expect(await enqueue()).toEqual([]);
    expect(provisioner.problemOf('shop/web')).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('Cannot apply'), undefined]);
    world.leads = true;
    expect(await see('Deployment', 'gone')).toEqual([]);
    expect(deviations).toEqual([]);
  });

  test('what failed is tried again', async () => {
    const { world, enqueue } = started();
    world.result = { type: 'forbidden', message: 'quota' };
    expect(await enqueue()).toEqual(all);
    world.result = { type: 'ok' };
    expect(await enqueue()).toEqual(all);
    expect(await enqueue()).toEqual([]);
  });

  test('what is forbidden stands in the way until it is not', async () => {
    const { world, problems, enqueue } = started();
    world.result = { type: 'forbidden', message: 'exceeded quota: few' };
    await enqueue();
    await enqueue();
    world.result = { type: 'ok' };
    await enqueue();
    expect(problems).toEqual([`Cannot apply ServiceAccount "${name}": exceeded quota: few`, undefined]);
  });

  test('what may not be read was never made here, and nobody looks for it again when its Gateway goes', async () => {
    const { world, readings, enqueue } = started();
    world.reading = { type: 'forbidden', message: 'no' };
    world.result = world.reading;
    await enqueue();
    world.need = 'none';
    await enqueue();
    expect(readings.all).toBe(2 * all.length);
    await enqueue();
    expect(readings.all).toBe(2 * all.length);
  });

  test('what was made here is looked for until it may be read', async () => {
    const { world, enqueue } = started();
    await enqueue();
    world.need = 'none';
    world.reading = { type: 'forbidden', message: 'no' };
    expect(await enqueue()).toEqual([]);
    world.reading = { type: 'ok' };
    expect(await enqueue()).toHaveLength(all.length);
  });

  test('pauses between attempts that fail grow, up to twelve times the first, and begin anew after success', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
    try {
      const { calls, world, enqueue } = started();
      world.result = { type: 'unavailable', message: 'no answer' };
      /** How often it was tried when so many pauses had passed; each of them is the first one's length. */
      const attempts = async (pauses: number) => {
        for (let pause = 0; pause < pauses; pause += 1) {
          jest.advanceTimersByTime(60_000);
          await new Promise(setImmediate);
        }
        return calls.splice(0).length / all.length;
      };
      await enqueue();
      expect(await attempts(1 + 2 + 4 + 8 + 12 + 12)).toBe(6);
      world.result = { type: 'ok' };
      expect(await attempts(12)).toBe(1);
      world.result = { type: 'unavailable', message: 'no answer' };
      world.need = { ...facts, ports: tcpPorts(81) };
      await enqueue();
      expect(await attempts(1)).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });

  test('what is applied to an object that is there makes no other one, should it go meanwhile', async () => {
    const { uids, world, enqueue } = started();
    await enqueue();
    expect(uids.splice(0)).toEqual(all.map(() => undefined));
    world.need = { ...facts, ports: tcpPorts(81) };
    await enqueue();
    expect(uids).toEqual(all.map(() => expect.stringMatching(/^uid /)));
  });

  test('what nobody answered to says nothing about the Gateway', async () => {
    const { world, problems, enqueue } = started();
    world.result = { type: 'unavailable', message: 'no answer' };
    await enqueue();
    expect(problems).toEqual([]);
  });

  const theirs = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'web-sallyport', uid: 'theirs' },
  };
  const child = (owner: string) => ({
    ...theirs.metadata,
    labels: { 'app.kubernetes.io/managed-by': 'sallyport' },
    ownerReferences: [{ kind: 'Gateway', name: owner, controller: true }],
  });

  test.each([
    ['without our label', theirs],
    [
      'of another tool with our label',
      { ...theirs, metadata: { ...theirs.metadata, labels: { 'app.kubernetes.io/managed-by': 'sallyport' } } },
    ],
    ['of another Gateway', { ...theirs, metadata: child('other') }],
  ])('an object %s is never taken, and nothing is made beside it', async (_, object) => {
    const { held, problems, enqueue } = started();
    held.set('Service', object);
    expect(await enqueue()).toEqual([]);
    expect(problems).toEqual([
      `The data plane conflicts with objects that Sallyport does not own: Service "${name}". Rename or delete these objects, or rename the Gateway.`,
    ]);
    held.delete('Service');
    expect(await enqueue()).toEqual(all);
    expect(problems.at(-1)).toBeUndefined();
  });

  test('an object of ours from before is taken over', async () => {
    const { held, enqueue } = started();
    held.set('Service', { ...theirs, metadata: child('web') });
    expect(await enqueue()).toEqual(all);
  });

  test('a Service that is there keeps its load balancer class, whether there is a pool of addresses or not', async () => {
    const { held, world, enqueue, problems } = started();
    const loadBalancerClass = () => recordOf(held.get('Service')?.['spec'])['loadBalancerClass'];
    await enqueue();
    world.pool = [{ first: 1n, last: 2n }];
    expect(await enqueue()).toEqual(all);
    expect(loadBalancerClass()).toBeUndefined();
    held.delete('Service');
    world.need = { ...facts, ports: tcpPorts(81) };
    await enqueue();
    expect(loadBalancerClass()).toBe('sallyport.dev/address-pool');
    world.pool = [];
    expect(await enqueue()).toEqual(all);
    expect(loadBalancerClass()).toBe('sallyport.dev/address-pool');
    expect(problems).toEqual([]);
  });

  test('what is not ours is not deleted', async () => {
    const { held, world, enqueue } = started();
    await enqueue();
    held.set('Service', theirs);
    world.need = 'none';
    expect(await enqueue()).not.toContainEqual(expect.stringContaining('Service shop'));
  });

  test('who does not lead sends nothing', async () => {
    const { world, enqueue } = started();
    world.leads = false;
    expect(await enqueue()).toEqual([]);
    world.leads = true;
    expect(await enqueue()).toEqual(all);
  });

  test('a write that fails because the term has ended is no warning, and the problem before it stays', async () => {
    const { calls, logged, problems, world, enqueue } = started();
    world.result = { type: 'forbidden', message: 'exceeded quota' };
    await enqueue();
    const [before, warnings] = [problems.length, logged.length];
    expect(warnings).toBeGreaterThan(0);
    world.result = { type: 'unavailable', message: 'the lease was not renewed in time' };
    world.writesOfTerm = calls.length + 1;
    await enqueue();
    expect(world.leads).toBe(false);
    expect(problems).toHaveLength(before);
    expect(logged).toHaveLength(warnings);
    Object.assign(world, { leads: true, writesOfTerm: Infinity, result: { type: 'ok' } });
    expect(await enqueue()).toEqual(all);
  });

  test('a term that ends in the middle of the writes ends them', async () => {
    const { world, enqueue } = started();
    world.writesOfTerm = 2;
    expect(await enqueue()).toEqual(all.slice(0, 2));
    Object.assign(world, { leads: true, writesOfTerm: Infinity });
    expect(await enqueue()).toEqual(all);
    Object.assign(world, { need: 'none', writesOfTerm: 1 });
    expect(await enqueue()).toHaveLength(1);
  });
});
