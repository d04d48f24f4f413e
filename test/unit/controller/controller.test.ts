import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { connectInProcess } from '../../../src/channel/in-process.ts';
import { ConfigurationSink } from '../../../src/channel/sink.ts';
import { AcknowledgementReporter } from '../../../src/controller/acknowledgement-reporter.ts';
import { Controller, type ObjectChange, type WireObject, type WriteResult } from '../../../src/controller/index.ts';
import { installationCell, objectCell } from '../../../src/core/graph/inputs.ts';
import { write } from '../../../src/core/incremental/index.ts';
import { parseObject } from '../../../src/core/resources/parse.ts';
import { parseIpAddress, type AddressRange } from '../../../src/core/text/ip-address.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { EvaluationQueue } from '../../../src/time/evaluation-queue.ts';
import { emptyEvaluation } from '../../support/evaluation.ts';
import { eventually } from '../../support/eventually.ts';
import { controllerName, gatewayClass, gateway, service, slice } from '../../support/served-gateway.ts';

const group = 'gateway.networking.k8s.io';
const started: Controller[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

/** A cluster of one Gateway's size: stores what is written and tells it back. With a clock that stands still, each change fits in a slice. */
function cluster(addressPool: readonly AddressRange[] = [], now = () => 0) {
  const kernel = emptyEvaluation();
  const evaluation = new EvaluationQueue(kernel, now);
  const statuses = new Map<string, unknown>();
  const calls: string[] = [];
  const notes: string[] = [];
  let version = 0;
  const world: { leads: boolean; refusal?: WriteResult } = { leads: true };
  const stored = new Map<string, WireObject>();
  const controller: Controller = new Controller({
    evaluation,
    controllerName,
    replica: { namespace: 'system', name: 'me', writer: { apply: async () => ({ type: 'ok' }) } },
    events: {
      record: ({ regarding, type, note }) => void notes.push(`${type} ${regarding.kind} ${regarding.name}: ${note}`),
    },
    mayWrite: () => world.leads,
    log: createLogger('silent'),
    metrics: createMetrics(),
    pace: { rest: 0, group: 0 },
    dataPlane: () => ({ image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM', addressPool }),
    writer: {
      async updateStatus(kind, object) {
        statuses.set(`${kind} ${object.metadata.name}`, object['status']);
        return {
          type: 'ok',
          object: { ...object, metadata: { ...object.metadata, resourceVersion: String((version += 1)) } },
        };
      },
      async read({ kind, metadata }) {
        const object = stored.get(`${kind} ${metadata.name}`);
        return object === undefined ? { type: 'notFound', message: 'no' } : { type: 'ok', object };
      },
      async setFinalizers(kind, { metadata }) {
        calls.push(`finalizers ${kind} ${metadata.name} ${String(metadata['finalizers'])}`);
        return { type: 'ok', object: { metadata } };
      },
      async apply(object) {
        const { kind, metadata } = object;
        calls.push(`apply ${kind} ${metadata.name}`);
        if (world.refusal !== undefined) return world.refusal;
        stored.set(`${kind} ${metadata.name}`, { metadata });
        return { type: 'ok', object };
      },
      async remove({ kind, metadata }) {
        calls.push(`remove ${kind} ${metadata.name}`);
        return { type: 'ok' };
      },
    },
  });
  started.push(controller);
  kernel.apply([
    write(installationCell, [], {
      controllerName,
      bundleVersions: { GatewayClass: 'v1.7.0' },
      bundles: {},
      unobserved: [],
    }),
  ]);
  const refOf = ({ apiVersion = '', kind = '', metadata }: WireObject) => ({
    group: apiVersion.split('/').at(-2) ?? '',
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  });
  const tell = async (event: ObjectChange) => {
    const { kind, namespace, name } = event.ref;
    const parsed = event.type === 'upsert' ? parseObject(event.object) : undefined;
    const resource = parsed?.type === 'resource' ? parsed.resource : undefined;
    await evaluation.apply([write(objectCell, [kind, namespace, name], resource)], (delta) =>
      controller.observe([event], delta),
    );
    await new Promise(setImmediate);
  };
  return {
    controller,
    evaluation,
    statuses,
    calls,
    notes,
    stored,
    world,
    put: (object: WireObject) => tell({ type: 'upsert', ref: refOf(object), object }),
    drop: (object: WireObject) => tell({ type: 'delete', ref: refOf(object) }),
  };
}

function programmed(status: unknown): unknown {
  const { conditions = [] } = status as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.find(({ type }) => type === 'Programmed')?.status;
}

describe('a controller', () => {
  test('accepts a class, provisions its Gateway, and calls that programmed once a data plane serves it at an address', async () => {
    const { controller, statuses, calls, put } = cluster();
    await put(gatewayClass);
    expect(statuses.get('GatewayClass ours')).toMatchObject({
      conditions: [
        { type: 'Accepted', status: 'True' },
        { type: 'SupportedVersion', status: 'True' },
      ],
    });
    await put(gateway);
    expect(calls).toContain('apply Deployment web-sallyport');
    expect(programmed(statuses.get('Gateway web'))).toBe('Unknown');
    await put(service);
    const source = controller.sourceOf('shop/web');
    expect(source).toBeDefined();
    if (source === undefined) return;
    const sink = new ConfigurationSink(() => []);
    const connection = connectInProcess(source, sink);
    await sink.synchronised;
    await put({
      ...slice,
      endpoints: [
        { addresses: ['10.0.0.1'], conditions: { ready: false }, targetRef: { kind: 'Pod', name: 'in-process' } },
      ],
    });
    expect(programmed(statuses.get('Gateway web'))).toBe('Unknown');
    await put(slice);
    expect(programmed(statuses.get('Gateway web'))).toBe('True');
    expect(statuses.get('Gateway web')).toMatchObject({ addresses: [{ type: 'IPAddress', value: '192.0.2.1' }] });
    connection.close();
  });

  test('evaluates only the latest state of pods that change faster than it can be evaluated', async () => {
    let time = 0;
    // Each look at the clock takes more than a slice.
    const { controller, evaluation, statuses, put } = cluster([], () => (time += 20));
    await put(gatewayClass);
    await put(gateway);
    await eventually(() => expect(statuses.has('Gateway web')).toBe(true));
    let transactions = 0;
    const { prepare } = evaluation;
    evaluation.prepare = (delta) => {
      transactions += 1;
      return prepare(delta);
    };
    const changes = 50;
    for (let change = 1; change <= changes; change += 1) {
      const object: WireObject = {
        metadata: { namespace: 'shop', name: 'web-1' },
        spec: { serviceAccountName: 'web-sallyport' },
        status: { conditions: [{ type: 'PodScheduled', status: 'False', message: `${change} nodes are full` }] },
      };
      controller.observeOwn([
        { type: 'upsert', ref: { group: '', kind: 'Pod', namespace: 'shop', name: 'web-1' }, object },
      ]);
    }
    await eventually(() => expect(JSON.stringify(statuses.get('Gateway web'))).toContain('50 nodes are full'));
    expect(transactions).toBeLessThan(5);
  });

  test('provisions a Gateway while changes arrive without end', async () => {
    let time = 0;
    // Each look at the clock takes more than a slice.
    const { evaluation, calls, put } = cluster([], () => (time += 20));
    let isOver = false;
    const goOn = (): void => {
      if (!isOver) void evaluation.apply([], goOn);
    };
    goOn();
    try {
      await put(gatewayClass);
      await put(gateway);
      await eventually(() => expect(calls).toContain('apply Deployment web-sallyport'));
    } finally {
      isOver = true;
    }
  });

  test('tells data planes of a route before it writes its status', async () => {
    const { controller, statuses, put } = cluster();
    for (const object of [gatewayClass, gateway, service]) await put(object);
    const written: boolean[] = [];
    const peer = controller.sourceOf('shop/web')?.connect('pod', ({ type }) => {
      if (type === 'transaction') written.push(statuses.has('HTTPRoute cart'));
    });
    void peer?.receive({ type: 'hello', digests: {} });
    written.splice(0);
    await put({
      apiVersion: `${group}/v1`,
      kind: 'HTTPRoute',
      metadata: { namespace: 'shop', name: 'cart', generation: 1 },
      spec: { parentRefs: [{ name: 'web' }] },
    });
    expect(written).toEqual([false]);
    expect(statuses.get('HTTPRoute cart')).toBeDefined();
  });

  test('opens the ports of ListenerSets', async () => {
    const { calls, put } = cluster();
    const shared = {
      ...gateway,
      spec: { ...(gateway['spec'] as object), allowedListeners: { namespaces: { from: 'Same' } } },
    };
    const set = (port: number): WireObject => ({
      apiVersion: `${group}/v1`,
      kind: 'ListenerSet',
      metadata: { namespace: 'shop', name: 'extra', uid: 's', generation: 1 },
      spec: { parentRef: { name: 'web' }, listeners: [{ name: 'more', port, protocol: 'HTTP' }] },
    });
    for (const object of [gatewayClass, shared, set(8080)]) await put(object);
    calls.splice(0);
    await put(set(8080));
    expect(calls.filter((call) => call.startsWith('apply'))).toEqual([]);
    await put(set(8081));
    expect(calls).toContain('apply Service web-sallyport');
  });

  test('that starts anew takes back nothing of what was programmed', async () => {
    const { statuses, put } = cluster();
    const conditions = [
      { type: 'Programmed', status: 'True', reason: 'Programmed', message: '', observedGeneration: 3 },
    ];
    await put(service);
    await put({ ...gateway, status: { conditions } });
    await put(gatewayClass);
    expect(statuses.get('Gateway web')).toMatchObject({ addresses: [{ value: '192.0.2.1' }] });
    expect(programmed(statuses.get('Gateway web'))).toBe('True');
  });

  test('counts what data planes told another replica', async () => {
    const { controller, statuses, put } = cluster();
    for (const object of [gatewayClass, gateway, service, slice]) await put(object);
    const report = (generation: number) => ({
      'shop/web': { 'in-process': { generations: { 'Gateway/shop/web': generation }, problems: {} } },
    });
    const reported = (content: object): ObjectChange => ({
      type: 'upsert',
      ref: { group: '', kind: 'ConfigMap', namespace: 'system', name: 'other-acknowledged' },
      object: {
        metadata: { namespace: 'system', name: 'other-acknowledged' },
        data: { report: JSON.stringify(content) },
      },
    });
    controller.observeOwn([reported(report(2))]);
    await new Promise(setImmediate);
    expect(programmed(statuses.get('Gateway web'))).toBe('Unknown');
    controller.observeOwn([reported(report(3))]);
    await new Promise(setImmediate);
    expect(programmed(statuses.get('Gateway web'))).toBe('True');
  });

  test('writes its own report again that somebody deleted', () => {
    const enqueue = jest.spyOn(AcknowledgementReporter.prototype, 'enqueue');
    const ref = { group: '', kind: 'ConfigMap', namespace: 'system', name: 'me-acknowledged' };
    cluster().controller.observeOwn([{ type: 'delete', ref }]);
    expect(enqueue).toHaveBeenCalledTimes(1);
    enqueue.mockRestore();
  });

  test('that becomes leader takes back nothing of what the former one wrote', async () => {
    const { controller, statuses, calls, world, put } = cluster();
    world.leads = false;
    for (const object of [gatewayClass, gateway, service, slice]) await put(object);
    // Its data planes told only the former leader.
    const conditions = [
      { type: 'Programmed', status: 'True', reason: 'Programmed', message: '', observedGeneration: 3 },
    ];
    await put({ ...gateway, status: { conditions } });
    expect(statuses.size).toBe(0);
    world.leads = true;
    controller.becomeLeader();
    await new Promise(setImmediate);
    expect(programmed(statuses.get('Gateway web'))).toBe('True');
    expect(calls.filter((call) => call.startsWith('apply'))).toHaveLength(5);
  });

  test('leaves Gateways of other classes alone', async () => {
    const { controller, statuses, calls, put } = cluster();
    await put({ ...gatewayClass, spec: { controllerName: 'example.com/other' } });
    await put(gateway);
    expect([...statuses.keys(), ...calls]).toEqual([]);
    expect(controller.sourceOf('shop/web')).toBeUndefined();
  });

  test('takes everything away when the class goes', async () => {
    const { controller, calls, put, drop } = cluster();
    await put(gatewayClass);
    await put(gateway);
    calls.splice(0);
    await drop(gatewayClass);
    expect(calls).toContain('remove Deployment web-sallyport');
    expect(controller.sourceOf('shop/web')).toBeUndefined();
  });

  const nowhere = { group: '', kind: 'ConfigMap', name: 'nowhere' };

  test('takes nothing away from a Gateway that is refused, until that goes', async () => {
    const { statuses, calls, put, drop } = cluster();
    await put(gatewayClass);
    await put(gateway);
    calls.splice(0);
    const refused = {
      ...gateway,
      metadata: { ...gateway.metadata, generation: 4 },
      spec: { ...(gateway['spec'] as object), infrastructure: { parametersRef: nowhere } },
    };
    await put(refused);
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: [{ type: 'Accepted', status: 'False', reason: 'InvalidParameters' }, {}, {}],
    });
    expect(calls).not.toContainEqual(expect.stringMatching(/^(?:apply|remove)/));
    await drop(refused);
    expect(calls).toContain('remove Service web-sallyport');
  });

  test('takes nothing away from a Gateway whose only protocol is mistyped, until that goes', async () => {
    const { statuses, calls, put, drop } = cluster();
    await put(gatewayClass);
    await put(gateway);
    calls.splice(0);
    const mistyped = {
      ...gateway,
      metadata: { ...gateway.metadata, generation: 4 },
      spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'http' }] },
    };
    await put(mistyped);
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: [{ type: 'Accepted', status: 'False', reason: 'ListenersNotValid' }, {}, {}],
    });
    expect(calls).not.toContainEqual(expect.stringMatching(/^(?:apply|remove)/));
    await drop(mistyped);
    expect(calls).toContain('remove Service web-sallyport');
  });

  test('takes nothing away while a class is refused, until that goes', async () => {
    const { controller, statuses, calls, put, drop } = cluster();
    await put(gatewayClass);
    await put(gateway);
    const source = controller.sourceOf('shop/web');
    calls.splice(0);
    await put({
      ...gatewayClass,
      metadata: { ...gatewayClass.metadata, generation: 2 },
      spec: { controllerName, parametersRef: { ...nowhere, namespace: 'shop' } },
    });
    expect(statuses.get('GatewayClass ours')).toMatchObject({
      conditions: [{ type: 'Accepted', status: 'False', reason: 'InvalidParameters' }, {}],
    });
    expect(calls).not.toContainEqual(expect.stringMatching(/^(?:apply|remove)/));
    // Data planes that are connected are to hear of it when the class is accepted again.
    expect(controller.sourceOf('shop/web')).toBe(source);
    await drop(gatewayClass);
    expect(calls).toContain('remove Service web-sallyport');
    expect(controller.sourceOf('shop/web')).toBeUndefined();
  });

  test('programs a Gateway whose class is accepted after its data planes have connected', async () => {
    const { controller, statuses, put } = cluster();
    const refused = { controllerName, parametersRef: { ...nowhere, namespace: 'shop' } };
    for (const object of [service, slice, { ...gatewayClass, spec: refused }, gateway]) await put(object);
    const source = controller.sourceOf('shop/web');
    if (source !== undefined) connectInProcess(source, new ConfigurationSink(() => []));
    await put(gatewayClass);
    await eventually(() => expect(programmed(statuses.get('Gateway web'))).toBe('True'));
  });

  test('makes a Service anew that somebody deleted, and says so', async () => {
    const { calls, notes, put, drop } = cluster();
    await put(gatewayClass);
    await put(gateway);
    await put(service);
    calls.splice(0);
    await drop(service);
    expect(calls).toContain('apply Service web-sallyport');
    expect(notes).toContain(
      'Warning Gateway web: Service "shop/web-sallyport" was changed or deleted. The controller restores it.',
    );
  });

  describe('an XBackend that selects pods', () => {
    const xGroup = 'gateway.networking.x-k8s.io';
    const backend: WireObject = {
      apiVersion: `${xGroup}/v1alpha1`,
      kind: 'XBackend',
      metadata: { namespace: 'shop', name: 'cart', uid: 'b', generation: 1 },
      spec: { type: 'EndpointSelector', endpointSelector: { matchLabels: { app: 'cart' } }, port: { number: 8080 } },
    };
    const route: WireObject = {
      apiVersion: `${group}/v1`,
      kind: 'HTTPRoute',
      metadata: { namespace: 'shop', name: 'cart', generation: 1 },
      spec: {
        parentRefs: [{ name: 'web' }],
        rules: [{ backendRefs: [{ group: xGroup, kind: 'XBackend', name: 'cart' }] }],
      },
    };

    test.each(['forbidden', 'invalid'] as const)('has an Event if its Service is %s', async (type) => {
      const { notes, world, put } = cluster();
      for (const object of [gatewayClass, gateway, backend]) await put(object);
      world.refusal = { type, message: 'exceeded quota: few' };
      await put(route);
      await eventually(() =>
        expect(notes.filter((note) => note.startsWith('Warning XBackend'))).toEqual([
          'Warning XBackend cart: Cannot write the Service that selects the pods: exceeded quota: few',
        ]),
      );
    });

    test('has no Event about a write that will be repeated soon', async () => {
      const { calls, notes, world, put } = cluster();
      for (const object of [gatewayClass, gateway, backend]) await put(object);
      world.refusal = { type: 'unavailable', message: 'busy' };
      await put(route);
      await eventually(() => expect(calls).toContainEqual(expect.stringMatching(/^apply Service sallyport-backend-/)));
      await new Promise(setImmediate);
      expect(notes.filter((note) => note.startsWith('Warning XBackend'))).toEqual([]);
    });
  });

  const pod = (state: object): ObjectChange => ({
    type: 'upsert',
    ref: { group: '', kind: 'Pod', namespace: 'shop', name: 'web-x' },
    object: {
      metadata: { namespace: 'shop', name: 'web-x' },
      spec: { serviceAccountName: 'web-sallyport' },
      status: state,
    },
  });
  const unpulled = pod({
    containerStatuses: [{ image: 'i', state: { waiting: { reason: 'ErrImagePull', message: 'no such host' } } }],
  });

  test('does not accept a Gateway that nothing can serve, until something does', async () => {
    const { controller, statuses, notes, put } = cluster();
    await put(gatewayClass);
    await put(gateway);
    controller.observeOwn([unpulled]);
    await new Promise(setImmediate);
    const message = 'Pod "shop/web-x" cannot pull image i; see "kubectl describe pod".';
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Accepted', status: 'False', reason: 'NoResources', message }),
      ]),
    });
    expect(notes).toContain(`Warning Gateway web: Accepted is False: ${message}`);
    await put(service);
    await put(slice);
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Accepted', status: 'True' })]),
    });
    controller.observeOwn([{ type: 'delete', ref: unpulled.ref }]);
    await new Promise(setImmediate);
    expect(JSON.stringify(statuses.get('Gateway web'))).not.toContain('cannot be pulled');
  });

  test('does not accept a Gateway whose names somebody else has', async () => {
    const { statuses, calls, stored, put } = cluster();
    stored.set('Service web-sallyport', { metadata: { name: 'web-sallyport' } });
    await put(gatewayClass);
    await put(gateway);
    await new Promise(setImmediate);
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Programmed', status: 'False', reason: 'NameConflict' }),
      ]),
    });
    expect(calls.filter((call) => call.startsWith('apply'))).toEqual([]);
  });

  const [first = 0n, last = 0n] = ['10.0.0.1', '10.0.0.2'].map(parseIpAddress);
  const ofPool = (ingress: readonly object[] = []): WireObject => ({
    ...service,
    spec: { type: 'LoadBalancer', loadBalancerClass: 'sallyport.dev/address-pool', ipFamilies: ['IPv4'] },
    status: { loadBalancer: { ingress } },
  });
  const asking = (value: string): WireObject => ({
    ...gateway,
    metadata: { ...gateway.metadata, generation: 4 },
    spec: { ...(gateway['spec'] as object), addresses: [{ type: 'IPAddress', value }] },
  });

  test('gives a Gateway an address of its pool, and says why it cannot have the one that it asks for', async () => {
    const { statuses, put } = cluster([{ first, last }]);
    for (const object of [gatewayClass, gateway, ofPool()]) await put(object);
    expect(statuses.get('Service web-sallyport')).toEqual({ loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } });
    await put(asking('192.0.2.1'));
    const message =
      '192.0.2.1 is not in the address pool (10.0.0.1-10.0.0.2). Request a free address of the pool, or omit value to get any address.';
    const refused = expect.arrayContaining([
      expect.objectContaining({ type: 'Programmed', status: 'False', reason: 'AddressNotUsable', message }),
    ]);
    await eventually(() => expect(statuses.get('Gateway web')).toMatchObject({ conditions: refused }));
    await put(asking('10.0.0.2'));
    await eventually(() =>
      expect(statuses.get('Service web-sallyport')).toEqual({ loadBalancer: { ingress: [{ ip: '10.0.0.2' }] } }),
    );
  });

  test('leaves a Gateway that is refused the address that it has', async () => {
    const { statuses, put } = cluster([{ first, last }]);
    await put(gatewayClass);
    await put({
      ...asking('10.0.0.1'),
      spec: { ...(asking('10.0.0.1')['spec'] as object), infrastructure: { parametersRef: nowhere } },
    });
    await put(ofPool([{ ip: '10.0.0.2' }]));
    expect(statuses.has('Service web-sallyport')).toBe(false);
    await put(asking('10.0.0.1'));
    expect(statuses.get('Service web-sallyport')).toEqual({ loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } });
  });

  test('leads with what there is to say about addresses', async () => {
    const { controller, statuses, world, put } = cluster([{ first, last: first }]);
    world.leads = false;
    for (const object of [gatewayClass, asking('192.0.2.1'), ofPool()]) await put(object);
    world.leads = true;
    controller.becomeLeader();
    expect(statuses.get('Gateway web')).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'Programmed',
          reason: 'AddressNotUsable',
          message: expect.stringContaining('address pool'),
        }),
      ]),
    });
  });

  test('without a pool writes no status of a Service', async () => {
    const { statuses, put } = cluster();
    for (const object of [gatewayClass, gateway, ofPool()]) await put(object);
    expect(statuses.has('Service web-sallyport')).toBe(false);
  });

  test('keeps a class while a Gateway names it', async () => {
    const { calls, put, drop } = cluster();
    await put(gatewayClass);
    expect(calls).toEqual([]);
    await put(gateway);
    expect(calls).toContain('finalizers GatewayClass ours gateway-exists-finalizer.gateway.networking.k8s.io');
    await drop(gateway);
    expect(calls).toContain('finalizers GatewayClass ours ');
  });
});
