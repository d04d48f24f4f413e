import { afterEach, describe, expect, test } from '@jest/globals';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { ConfigurationSource } from '../../../src/channel/source.ts';
import type { CertificateResource, ToProxy } from '../../../src/channel/messages.ts';
import { traceKeyOf } from '../../../src/channel/trace.ts';
import { DataPlanes } from '../../../src/controller/data-planes.ts';
import type { ListenerConfig, RouteConfig } from '../../../src/core/routing/config.ts';
import type { Write } from '../../../src/core/incremental/index.ts';
import { routeConfig } from '../../support/routes.ts';
import { until } from '../../support/until.ts';

function listener(generation: number, name = 'http'): ListenerConfig {
  return {
    kind: 'listener',
    key: `listener/ns/gw/${name}`,
    gateway: 'ns/gw',
    owner: 'Gateway/ns/gw',
    name,
    port: 80,
    protocol: 'HTTP',
    certificates: [],
    generation,
  };
}

function upserted(...resources: readonly (CertificateResource | ListenerConfig | RouteConfig)[]) {
  return { upserted: new Map(resources.map((resource) => [resource.key, resource])), removed: new Set<string>() };
}

const addresses = [{ type: 'IPAddress', value: '192.0.2.1' }];
const opened: DataPlanes[] = [];

afterEach(() => {
  for (const planes of opened.splice(0)) planes.stop();
});

const megabyte = 'x'.repeat(2 ** 20);

/** A route of a namespace that takes a number of MiB. */
function route(namespace: string, size: number): RouteConfig {
  const own = `${namespace}/big`;
  const attachments = [{ listener: 'listener/ns/gw/http', hostnames: Array.from({ length: size }, () => megabyte) }];
  return routeConfig(`HTTPRoute/${own}`, { route: own, attachments });
}

function started({ programmed, patience = 60_000 }: { readonly programmed?: number; readonly patience?: number } = {}) {
  const told: Write[] = [];
  const changes: string[] = [];
  const reports: unknown[] = [];
  const remarks: string[] = [];
  const exceeded: string[] = [];
  let comparisons = 0;
  const planes: DataPlanes = new DataPlanes({
    tell: (writes) => void told.push(...writes),
    programmed: () => {
      comparisons += 1;
      return programmed;
    },
    patience,
    changes: {
      sent: (arrived) => void changes.push(`${arrived} sent`),
      acknowledged: (arrived) => void changes.push(`${arrived} acknowledged`),
    },
    onReport: () =>
      void reports.push(
        Object.fromEntries([...planes.report()].map(([gateway, pods]) => [gateway, Object.fromEntries(pods)])),
      ),
    onWithheld: (gateway, remark) => void exceeded.push(`${gateway}: ${remark}`),
    onStateChange: (gateway) => void remarks.push(planes.stateOf(gateway).remark),
  });
  opened.push(planes);
  planes.serve('ns/gw');
  planes.publish(upserted(listener(1)));
  const source = planes.sourceOf('ns/gw');
  if (source === undefined) throw new Error('the Gateway is served');
  return {
    comparisons: () => comparisons,
    told,
    changes,
    reports,
    remarks,
    exceeded,
    planes,
    source,
    ready: (...pods: readonly string[]) => planes.setReachability('ns/gw', { addresses, pods: new Set(pods) }),
  };
}

/** A data plane that acknowledges when the test says so. */
function connect(source: ConfigurationSource, pod = 'pod') {
  let sent = 0;
  const peer = source.connect(pod, (message: ToProxy) => {
    sent = message.id;
  });
  void peer.receive({ type: 'hello', digests: {} });
  return {
    ...peer,
    /** Resolves when all acknowledgements of the turn have been compared. */
    acknowledge: async (...problems: { key: string; message: string }[]) => {
      void peer.receive({ type: 'acknowledge', id: sent, problems });
      await setImmediate();
    },
  };
}

describe('the duration of changes', () => {
  test('ends when the last connected data plane acknowledges', async () => {
    const { changes, planes, source } = started();
    const [one, other] = [connect(source, 'one'), connect(source, 'other')];
    planes.publish(upserted(listener(2)), 20);
    planes.publish(upserted(listener(3)), 30);
    expect(changes).toEqual(['20 sent', '30 sent']);
    await one.acknowledge();
    expect(changes).toHaveLength(2);
    await other.acknowledge();
    expect(changes.slice(2)).toEqual(['20 acknowledged', '30 acknowledged']);
    await one.acknowledge();
    expect(changes).toHaveLength(4);
  });

  test('is not observed without an event, a difference, or a data plane', async () => {
    const { changes, planes, source } = started();
    planes.publish(upserted(listener(2)), 20);
    const pod = connect(source);
    await pod.acknowledge();
    planes.publish(upserted(listener(3)));
    planes.publish(upserted(listener(3)), 30);
    await pod.acknowledge();
    expect(changes).toEqual([]);
  });

  test('ends when the last data plane that has not acknowledged disconnects', async () => {
    const { changes, planes, source } = started();
    const [one, other] = [connect(source, 'one'), connect(source, 'other')];
    planes.publish(upserted(listener(2)), 20);
    await one.acknowledge();
    expect(changes).toEqual(['20 sent']);
    // Otherwise the next acknowledgement, hours later, would end it.
    other.close();
    expect(changes).toEqual(['20 sent', '20 acknowledged']);
  });

  test('is not observed if all data planes go away before they acknowledge', async () => {
    const { changes, planes, source } = started();
    const pod = connect(source, 'one');
    planes.publish(upserted(listener(2)), 20);
    pod.close();
    await connect(source, 'two').acknowledge();
    expect(changes).toEqual(['20 sent']);
  });
});

test('a Gateway that was created again, or restored from a backup, is not programmed by acknowledgements of before', async () => {
  const { told, reports, planes, source, ready } = started();
  ready('pod');
  const pod = connect(source);
  planes.publish(upserted(listener(5)));
  await pod.acknowledge();
  expect(told.at(-1)).toMatchObject({ value: { generation: 5 } });
  planes.publish(upserted(listener(1)));
  await setImmediate();
  expect(told.at(-1)).toMatchObject({ value: undefined });
  expect(reports.at(-1)).toEqual({ 'ns/gw': { pod: { generations: {}, problems: {} } } });
  await pod.acknowledge();
  expect(told.at(-1)).toMatchObject({ value: { generation: 1 } });
  planes.publish(upserted(listener(2)));
  await setImmediate();
  expect(told.at(-1)).toMatchObject({ value: { generation: 1 } });
  await pod.acknowledge();
  expect(told.at(-1)).toMatchObject({ value: { generation: 2 } });
});

test('a data plane that is too old for the configuration is named, and its listener has the problem', async () => {
  const { told, remarks, planes, source, ready } = started();
  ready('pod');
  const pod = connect(source);
  planes.publish(upserted({ ...listener(2), failure: 'no such filter' }));
  await pod.acknowledge();
  expect(remarks).toEqual([
    'These data plane pods are older than the controller and reject requests that need a filter which they do not support: pod. Update the data planes.',
  ]);
  expect(planes.tally()).toMatchObject({ ready: 1, outdated: 1 });
  expect(told.at(-1)).toMatchObject({
    value: { generation: 2, listenerProblems: { http: expect.stringContaining('older than the controller') } },
  });
  planes.publish(upserted(listener(3)));
  await pod.acknowledge();
  expect(remarks.at(-1)).toBe('');
  expect(planes.tally()).toMatchObject({ outdated: 0 });
});

test('a data plane that is too old for the configuration is named, whatever the words of the replica that it is connected to', () => {
  const { remarks, planes, ready } = started();
  ready('pod', 'healthy');
  const acknowledged = { generations: { 'Gateway/ns/gw': 1 }, problems: {} };
  const outdated = { ...acknowledged, problems: { 'route/ns/web': 'too old' }, isOutdated: true } as const;
  const pods = new Map([
    ['pod', outdated],
    ['healthy', acknowledged],
    ['gone', outdated],
  ]);
  planes.observeReport('other', new Map([['ns/gw', pods]]));
  expect(planes.tally()).toMatchObject({ outdated: 1 });
  expect(remarks.at(-1)).toContain('which they do not support: pod. Update the data planes.');
});

describe('acknowledgements', () => {
  test('count from the moment at which the data plane is ready and has an address', async () => {
    const { told, planes, source, ready } = started();
    await connect(source).acknowledge();
    planes.setReachability('ns/gw', { addresses, pods: new Set() });
    expect(told).toEqual([]);
    ready('pod');
    expect(told).toMatchObject([{ value: { generation: 1, addresses } }]);
  });

  test('a generation counts when all data planes that are ready have it', async () => {
    const { told, planes, source, ready } = started();
    ready('one', 'other');
    const [one, other] = [connect(source, 'one'), connect(source, 'other')];
    connect(source, 'starting');
    await one.acknowledge();
    expect(told).toEqual([]);
    await other.acknowledge();
    expect(told).toMatchObject([{ value: { generation: 1 } }]);
    planes.publish(upserted(listener(2)));
    await one.acknowledge();
    await other.acknowledge();
    expect(told).toMatchObject([{ value: { generation: 1 } }, { value: { generation: 2 } }]);
  });

  test('of one turn are compared with all pods once, and so are pods that disconnect', async () => {
    const { comparisons, planes, source, ready } = started();
    ready('pod-0');
    const pods = Array.from({ length: 100 }, (_, index) => connect(source, `pod-${index}`));
    const before = comparisons();
    await Promise.all(pods.map((pod) => pod.acknowledge()));
    expect(comparisons()).toBe(before + 1);
    for (const pod of pods) pod.close();
    await setImmediate();
    expect(comparisons()).toBe(before + 2);
    expect(planes.tally()).toMatchObject({ connected: 0 });
  });

  test('are not compared after the Gateway has gone', async () => {
    const { comparisons, planes, source, ready } = started();
    ready('pod');
    const acknowledged = connect(source).acknowledge();
    planes.forget('ns/gw');
    const before = comparisons();
    await acknowledged;
    expect(comparisons()).toBe(before);
  });

  test('one that restarts takes nothing back', async () => {
    const { told, source, ready } = started();
    ready('pod');
    const first = connect(source);
    await first.acknowledge();
    first.close();
    ready();
    connect(source);
    expect(told).toHaveLength(1);
  });

  test('stay when the old session of a pod that has reconnected closes late', async () => {
    const { told, planes, source, ready } = started();
    ready('one', 'other');
    const old = connect(source, 'one');
    const [one, other] = [connect(source, 'one'), connect(source, 'other')];
    planes.publish(upserted(listener(2)));
    await one.acknowledge();
    old.close();
    await other.acknowledge();
    expect(told.at(-1)).toMatchObject({ value: { generation: 2 } });
  });

  test('what was programmed before this controller started stays so', () => {
    const { told, planes } = started({ programmed: 4 });
    planes.publish(upserted(listener(5)));
    planes.setReachability('ns/gw', { addresses, pods: new Set() });
    expect(told).toMatchObject([{ value: { generation: 4, addresses } }]);
  });

  test('are none while the network has taken the address back', async () => {
    const { told, planes, source, ready } = started();
    await connect(source).acknowledge();
    ready('pod');
    planes.setReachability('ns/gw', { addresses: [], pods: new Set(['pod']) });
    expect(told.at(-1)).toMatchObject({ args: ['Gateway', 'ns', 'gw'], value: undefined });
    const count = told.length;
    planes.setReachability('ns/gw', { addresses: [], pods: new Set(['pod', 'another']) });
    expect(told).toHaveLength(count);
    ready('pod');
    expect(told.at(-1)).toMatchObject({ value: { generation: 1, addresses } });
  });

  test('problems go by the name of the listener', async () => {
    const { told, source, ready } = started();
    ready('pod');
    await connect(source).acknowledge(
      { key: 'listener/ns/gw/http', message: 'port is taken' },
      { key: 'route/x', message: 'no listener' },
    );
    expect(told).toMatchObject([{ value: { listenerProblems: { http: 'port is taken' } } }]);
  });

  test('each owner of listeners has its own generation and problems', async () => {
    const { told, planes, source, ready } = started();
    const owner = 'ListenerSet/other/set';
    const ofSet = { ...listener(7), owner, key: 'listener/ns/gw/other/set/http' };
    planes.publish(upserted(ofSet));
    ready('pod');
    await connect(source).acknowledge({ key: ofSet.key, message: 'port is taken' });
    expect(told).toMatchObject([
      { args: ['Gateway', 'ns', 'gw'], value: { generation: 1, listenerProblems: {} } },
      { args: ['ListenerSet', 'other', 'set'], value: { generation: 7, listenerProblems: { http: 'port is taken' } } },
    ]);
    planes.publish({ upserted: new Map(), removed: new Set([ofSet.key]) });
    expect(told.at(-1)).toMatchObject({ args: ['ListenerSet', 'other', 'set'], value: undefined });
  });

  test('a Gateway that goes takes its acknowledgement along', async () => {
    const { told, planes, source, ready } = started();
    ready('pod');
    await connect(source).acknowledge();
    planes.forget('ns/gw');
    expect(told.at(-1)).toMatchObject({ value: undefined });
    expect(planes.sourceOf('ns/gw')).toBeUndefined();
  });

  test('data planes of a Gateway that goes are let go: should it come back, they must find what it is then', () => {
    const { planes, source } = started();
    const ended: string[] = [];
    for (const pod of ['one', 'two'])
      source.connect(
        pod,
        () => undefined,
        () => void ended.push(pod),
      );
    planes.forget('ns/gw');
    expect(ended).toEqual(['one', 'two']);
  });
});

describe('several replicas', () => {
  test('tell each other what was acknowledged to them, and no more', async () => {
    const { reports, planes, source } = started();
    const pod = connect(source);
    expect(reports).toEqual([]);
    await pod.acknowledge({ key: 'listener/ns/gw/http', message: 'port is taken' });
    expect(reports).toEqual([
      {
        'ns/gw': { pod: { generations: { 'Gateway/ns/gw': 1 }, problems: { 'listener/ns/gw/http': 'port is taken' } } },
      },
    ]);
    planes.publish({ upserted: new Map(), removed: new Set(['route/ns/gone']) });
    await pod.acknowledge({ key: 'listener/ns/gw/http', message: 'port is taken' });
    expect(reports).toHaveLength(1);
    pod.close();
    expect(reports.at(-1)).toEqual({});
  });

  test('report no generations of a Gateway that has more than a report has room for', async () => {
    const { told, planes, source, ready } = started();
    ready('pod-0');
    const sets = Array.from({ length: 100 }, (_, index) => ({
      ...listener(1),
      key: `listener/ns/gw/ns/set-${index}/http`,
      owner: `ListenerSet/ns/set-${index}`,
    }));
    planes.publish(upserted(...sets));
    const pods = Array.from({ length: 600 }, (_, index) => connect(source, `pod-${index}`));
    await Promise.all(pods.slice(0, 500).map((pod) => pod.acknowledge()));
    expect(planes.report().get('ns/gw')?.size).toBe(500);
    await Promise.all(pods.slice(500).map((pod) => pod.acknowledge()));
    expect(planes.report().get('ns/gw')?.size).toBe(0);
    expect(planes.tally()).toMatchObject({ connected: 600 });
    expect(told).toHaveLength(101);
  });

  test('count what others were told, before the Gateway is served here, too', () => {
    const { told, planes, ready } = started();
    const report = new Map([
      [
        'ns/gw',
        new Map([
          ['pod', { generations: { 'Gateway/ns/gw': 1 }, problems: { 'listener/ns/gw/http': 'port is taken' } }],
        ]),
      ],
    ]);
    planes.observeReport('other', report);
    ready('pod');
    expect(told).toMatchObject([{ value: { generation: 1, listenerProblems: { http: 'port is taken' } } }]);
    planes.forget('ns/gw');
    planes.publish(upserted(listener(1)));
    ready('pod');
    expect(told.at(-1)).toMatchObject({ value: { generation: 1 } });
  });

  test('wait for a data plane that nobody has heard of', async () => {
    const { told, source, ready } = started();
    ready('pod', 'unheard');
    await connect(source).acknowledge();
    expect(told).toEqual([]);
  });
});

test('pods that nobody can reach for want of an address are remarked upon, until there is one', () => {
  const { planes, ready } = started();
  const remark = () => planes.stateOf('ns/gw').remark;
  planes.setReachability('ns/gw', { addresses: [], pods: new Set() });
  expect(remark()).toBe('');
  planes.setReachability('ns/gw', { addresses: [], pods: new Set(['pod']) });
  expect(remark()).toBe('The Service of the data plane has no address yet: the load balancer has not assigned one.');
  ready('pod');
  expect(remark()).toBe('');
});

describe('data planes that are late', () => {
  test('are left out of account after a while, with a remark until they are there', async () => {
    const { told, remarks, source, ready } = started({ patience: 20 });
    ready('pod', 'late');
    await connect(source).acknowledge();
    await until(() =>
      expect(remarks).toEqual([
        'These data plane pods did not acknowledge the newest generation in time and may serve an older one: late.',
      ]),
    );
    expect(told).toMatchObject([{ value: { generation: 1 } }]);
    await connect(source, 'late').acknowledge();
    expect(remarks.at(-1)).toBe('');
  });

  test('have the same time again after they have disconnected, here or from another replica', async () => {
    const { told, remarks, planes, source, ready } = started({ patience: 200 });
    ready('here', 'elsewhere');
    const report = new Map([
      ['ns/gw', new Map([['elsewhere', { generations: { 'Gateway/ns/gw': 1 }, problems: {} }]])],
    ]);
    planes.observeReport('other', report);
    const first = connect(source, 'here');
    await first.acknowledge();
    expect(told).toMatchObject([{ value: { generation: 1 } }]);
    await delay(250);
    // The controller is restarted, or their connections have reached their age.
    first.close();
    planes.observeReport('other', new Map());
    await setImmediate();
    expect(remarks).toEqual([]);
    await connect(source, 'here').acknowledge();
    await until(() => expect(remarks).toHaveLength(1));
    expect(remarks[0]).toContain(': elsewhere.');
    expect(told).toHaveLength(1);
  });

  test('have no more time if they disconnect again and again before they acknowledge', async () => {
    const { told, remarks, planes, source, ready } = started({ patience: 200 });
    ready('pod', 'flapping');
    const pod = connect(source);
    await pod.acknowledge();
    const first = connect(source, 'flapping');
    await first.acknowledge();
    planes.publish(upserted(listener(2)));
    await pod.acknowledge();
    first.close();
    const flapping = setInterval(() => connect(source, 'flapping').close(), 20);
    await until(() => expect(told.at(-1)).toMatchObject({ value: { generation: 2 } }));
    clearInterval(flapping);
    expect(remarks.at(-1)).toContain(': flapping.');
  });

  test('do not make a generation programmed where none is in time', async () => {
    const { told, remarks, ready } = started({ patience: 20 });
    ready('late');
    await until(() => expect(remarks).toHaveLength(1));
    expect(told).toEqual([]);
  });
});

describe('configuration beyond the limits', () => {
  const remark =
    'The configuration of the Gateway is too large. Some objects are not served: routes of namespace greedy (limit for all namespaces: 26 MiB).';

  test('is told to the evaluation by namespace, counted, remarked upon, and taken back', () => {
    const { told, exceeded, planes, ready } = started();
    ready('pod');
    told.length = 0;
    planes.publish(upserted(route('greedy', 40), route('modest', 1)));
    expect(told.map(({ args, value }) => [args, value])).toEqual([
      [['ns', 'gw', 'greedy'], { 'route/HTTPRoute/greedy/big': { bytes: expect.any(Number), limit: 26 * 2 ** 20 } }],
    ]);
    expect(planes.stateOf('ns/gw').remark).toBe(remark);
    expect([...planes.withheld()]).toEqual([['ns/gw', 1]]);
    planes.publish(upserted(route('greedy', 1)));
    expect(told.slice(1).map(({ args, value }) => [args, value])).toEqual([[['ns', 'gw', 'greedy'], undefined]]);
    expect(planes.stateOf('ns/gw').remark).toBe('');
    expect(exceeded).toEqual([`ns/gw: ${remark}`, 'ns/gw: ']);
    expect(planes.withheld().size).toBe(0);
  });

  test('fails all listeners without room, and is not repeated for each data plane without a limit', async () => {
    const { told, planes, source, ready } = started();
    ready('pod-0');
    const secret = 'ns/large';
    const pair = { certificate: 'c'.repeat(2 ** 24), privateKey: 'k' };
    const certificate = { kind: 'certificate', key: `certificate/${secret}`, secret, ...pair } as const;
    const listeners = Array.from({ length: 2_000 }, (_, index) => ({
      ...listener(2, `listener-${index}`),
      certificates: [secret],
    }));
    planes.publish(upserted(certificate, ...listeners));
    for (let index = 0; index < 10; index += 1) await connect(source, `pod-${index}`).acknowledge();
    const problems = source.states().flatMap((state) => [...state.problems.values()]);
    expect(problems.join('').length).toBeLessThan(2 ** 19);
    expect(told.at(-1)?.value).toMatchObject({
      listenerProblems: Object.fromEntries(
        listeners.map(({ name }) => [name, expect.stringContaining('exceeds the share')]),
      ),
    });
  });

  test('leaves nothing in the evaluation when the Gateway goes', () => {
    const { told, planes } = started();
    planes.publish(upserted(route('greedy', 40)));
    told.length = 0;
    planes.forget('ns/gw');
    expect(told.map(({ args, value }) => [args, value])).toContainEqual([['ns', 'gw', 'greedy'], undefined]);
  });
});

describe('the key for traces', () => {
  function held(source: ConfigurationSource): readonly string[] {
    const keys: string[] = [];
    const peer = source.connect('p', (message: ToProxy) => {
      if (message.type !== 'transaction') return;
      for (const { resource } of message.upserts) if (resource.kind === 'traceKey') keys.push(`+${resource.secret}`);
      for (const key of message.removals) if (key.startsWith('traceKey/')) keys.push('-');
    });
    void peer.receive({ type: 'hello', digests: {} });
    return keys;
  }

  test('goes to each Gateway, also to new ones, derived for it alone, and away again', () => {
    const { planes, source } = started();
    const before = held(source);
    planes.setTraceSecret('secret');
    planes.setTraceSecret('secret');
    planes.serve('ns/new');
    const created = planes.sourceOf('ns/new');
    if (created === undefined) throw new Error('the Gateway is served');
    const after = held(created);
    expect(before).toEqual([`+${traceKeyOf('secret', 'ns/gw')}`]);
    expect(after).toEqual([`+${traceKeyOf('secret', 'ns/new')}`]);
    planes.setTraceSecret(undefined);
    expect(before.at(-1)).toBe('-');
    expect(JSON.stringify([before, after])).not.toContain('"+secret');
  });
});
