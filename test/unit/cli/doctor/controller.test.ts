import { describe, expect, test } from '@jest/globals';
import type { ControllerFacts, DoctorFacts, ServedObjects, Verdict } from '../../../../src/cli/doctor/facts.ts';
import { diagnose, exitCodeOf } from '../../../../src/cli/doctor/report.ts';
import type { PodFacts } from '../../../../src/cli/live/data-planes.ts';
import { decodeReport } from '../../../../src/controller/acknowledgement-report.ts';
import type { StoredObject } from '../../../../src/core/preflight/target.ts';
import { healthy, now } from '../../../support/doctor.ts';

const day = 86_400_000;
const image = 'example.com/sallyport:1';

function known<T>(value: T) {
  return { type: 'known' as const, value };
}

const unknown = { type: 'unknown' as const, problem: 'pods is forbidden' };

function pod(name: string, changes: Partial<PodFacts> = {}): PodFacts {
  return { namespace: 'shop', name, gatewayLabel: 'web', isReady: true, image, options: [], problems: [], ...changes };
}

function conditions(...list: readonly (readonly [type: string, status: string, reason?: string, message?: string])[]) {
  return list.map(([type, status, reason = type, message = '']) => ({
    type,
    status,
    reason,
    message,
    observedGeneration: 3,
  }));
}

const good = conditions(['Accepted', 'True'], ['Programmed', 'True'], ['ResolvedRefs', 'True']);

function stored(kind: 'Gateway' | 'GatewayClass', name: string, status: object): StoredObject {
  const namespace = kind === 'Gateway' ? 'shop' : '';
  return {
    kind,
    ref: { group: 'gateway.networking.k8s.io', kind, namespace, name },
    json: { metadata: { namespace, name, generation: 3 }, status },
  };
}

const addresses = [{ type: 'IPAddress', value: '192.0.2.1' }];

function report(generation: number, problems: object = {}) {
  return decodeReport(
    JSON.stringify({ 'shop/web': { a: { generations: { 'Gateway/shop/web': generation }, problems } } }),
  );
}

const objects: ServedObjects = {
  unobserved: [],
  unserved: [],
  stored: [],
  classes: [stored('GatewayClass', 'sallyport', { conditions: conditions(['Accepted', 'True']) })],
  gateways: [stored('Gateway', 'web', { addresses, conditions: good })],
  listenerSets: [],
  certificates: [],
  idle: [],
};

const running: ControllerFacts = {
  lease: known({ holder: 'c-1', renewed: now, duration: 15_000 }),
  pods: known([pod('c-1', { gatewayLabel: '' }), pod('c-2', { gatewayLabel: '' })]),
  authorities: known({
    type: 'authorities' as const,
    current: { certificate: 'a', notAfter: now + 90 * day, renewalTime: now + 30 * day },
    bundle: ['a'],
  }),
  dataPlanePods: known([pod('a')]),
  partlyListed: [],
  deploymentProblems: known(new Map()),
  reports: known([report(3)]),
  objects: known(objects),
};

function examine(changes: Partial<ControllerFacts>): readonly Verdict[] {
  return diagnose({ ...healthy, controller: { ...running, ...changes } });
}

function bad(changes: Partial<ControllerFacts>): readonly string[] {
  return examine(changes)
    .filter(({ status }) => status !== 'ok')
    .map(({ check, status, message }) => `${status} ${check}: ${message}`);
}

function withGateway(status: object): Partial<ControllerFacts> {
  return { objects: known({ ...objects, gateways: [stored('Gateway', 'web', status)] }) };
}

describe('the doctor of the controller', () => {
  test('is content where everything works', () => {
    expect(bad({})).toEqual([]);
    expect(
      examine({})
        .slice(-7)
        .map(({ check, message }) => `${check}: ${message}`),
    ).toEqual([
      `controller: 2 of 2 pods are ready, image ${image}`,
      'controller-leader: c-1 leads',
      `controller-authority: valid until ${new Date(now + 90 * day).toISOString()}`,
      'controller-permissions: all permissions of the controller are granted',
      'gateway-classes: accepted: sallyport',
      'gateways: 1 Gateways are accepted and programmed',
      'data-planes: 1 pods of 1 Gateways are connected and have acknowledged the newest generation',
    ]);
  });

  test('says one thing where there is none, unless a class names it', () => {
    const none = { lease: known(undefined), pods: known([]) };
    const withoutClass = examine({ ...none, objects: known({ ...objects, classes: [] }) });
    expect(withoutClass.slice(-1)).toEqual([
      { check: 'controller', status: 'ok', message: 'not installed', commands: [] },
    ]);
    expect(bad(none)).toEqual([
      'fail controller: no controller found in namespace "sallyport-system", but GatewayClasses name it (sallyport): unless it runs in another namespace, their Gateways are not reconciled',
    ]);
  });

  test('a cluster with the controller alone misses no webhook', () => {
    const verdicts = diagnose({
      ...healthy,
      configuration: known(undefined),
      readyEndpoints: known(0),
      authorities: known(undefined),
      permissions: unknown,
      controller: running,
    });
    expect(exitCodeOf(verdicts)).toBe(0);
    expect(verdicts.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(verdicts.find(({ check }) => check === 'webhook-configuration')?.message).toContain('not installed');
  });

  test('pods that are not ready, that are alone, or that have different images', () => {
    expect(bad({ pods: known([pod('c-1', { isReady: false, problems: ['Pod "x" cannot start.'] })]) })).toEqual([
      'fail controller: 0 of 1 pods are ready: statuses and data planes are not updated. Pod "x" cannot start.',
    ]);
    expect(bad({ pods: known([pod('c-1')]) })).toEqual([
      'warn controller: 1 of 1 pods are ready: the loss of one pod interrupts updates',
    ]);
    expect(bad({ pods: known([pod('c-1'), pod('c-2', { image: 'example.com/sallyport:2' })]) })).toEqual([
      `warn controller: 2 of 2 pods are ready, with different images: ${image}, example.com/sallyport:2`,
    ]);
  });

  test('nobody leads, or the leader is gone', () => {
    expect(bad({ lease: known({ holder: '', renewed: now, duration: 1 }) })).toEqual([
      'fail controller-leader: Lease "sallyport-system/sallyport-controller" has no holder: statuses are not updated',
    ]);
    expect(bad({ lease: known({ holder: 'c-9', renewed: now - day, duration: 15_000 }) })[0]).toContain(
      'fail controller-leader: c-9 has not renewed Lease',
    );
    // Clocks differ.
    expect(bad({ lease: known({ holder: 'c-9', renewed: now - 30_000, duration: 15_000 }) })).toEqual([]);
  });

  test('the authority of the channel expires', () => {
    const value = {
      type: 'authorities' as const,
      current: { certificate: 'a', notAfter: now - day, renewalTime: now - 2 * day },
      bundle: ['a'],
    };
    expect(bad({ authorities: known(value) })[0]).toContain('fail controller-authority: expired at');
  });
});

describe('Gateways', () => {
  test('that are refused, wait, or have an older generation', () => {
    expect(
      bad(withGateway({ addresses, conditions: conditions(['Accepted', 'False', 'NoResources', 'No pods.']) })),
    ).toEqual(['fail gateways: Gateway "shop/web": Accepted is False (NoResources): No pods.']);
    expect(
      bad(
        withGateway({
          addresses,
          conditions: conditions(['Accepted', 'True'], ['Programmed', 'Unknown', 'Pending', 'Waiting.']),
        }),
      ),
    ).toEqual(['warn gateways: Gateway "shop/web": Programmed is Unknown (Pending): Waiting.']);
    expect(
      bad(
        withGateway({
          addresses,
          conditions: conditions(['Accepted', 'Unknown', 'Pending', 'Waiting for controller']),
        }),
      ),
    ).toEqual(['fail gateways: Gateway "shop/web": the controller has not reconciled generation 3']);
    expect(bad(withGateway({ addresses, conditions: good.map((one) => ({ ...one, observedGeneration: 2 })) }))).toEqual(
      ['fail gateways: Gateway "shop/web": the controller has not reconciled generation 3'],
    );
    expect(
      bad(
        withGateway({
          addresses,
          conditions: conditions(
            ['Accepted', 'True', 'ListenersNotValid', 'Listener a: port 0.'],
            ['Programmed', 'True'],
          ),
        }),
      ),
    ).toEqual(['warn gateways: Gateway "shop/web": Listener a: port 0.']);
  });

  test('without an address', () => {
    expect(bad(withGateway({ conditions: good }))).toEqual([
      'fail gateway-addresses: Gateway "shop/web" has no address: clients cannot connect',
    ]);
  });

  test('without a class that is accepted', () => {
    const refused = stored('GatewayClass', 'sallyport', {
      conditions: conditions(['Accepted', 'False', 'InvalidParameters', 'No ConfigMap.']),
    });
    expect(bad({ objects: known({ ...objects, classes: [refused] }) })).toEqual([
      'fail gateway-classes: GatewayClass "sallyport": Accepted is False (InvalidParameters): No ConfigMap.',
    ]);
    expect(bad({ objects: known({ ...objects, classes: [], gateways: [] }) })[0]).toContain('warn gateway-classes');
  });

  test('many with problems are counted', () => {
    const gateways = Array.from({ length: 15 }, (_, index) => stored('Gateway', `g-${index}`, { addresses }));
    const found = bad({ objects: known({ ...objects, gateways }) }).filter((line) => line.includes(' gateways:'));
    expect(found).toHaveLength(11);
    expect(found.at(-1)).toBe('fail gateways: and 5 more');
  });
});

describe('data planes', () => {
  test('without a ready pod, with the cause', () => {
    expect(
      bad({
        dataPlanePods: known([]),
        reports: known([]),
        deploymentProblems: known(
          new Map([['shop/web', ['Deployment "shop/web-sallyport" cannot create pods: quota.']]]),
        ),
      }),
    ).toEqual([
      'fail data-planes: Gateway "shop/web" has no ready pod: it is not served',
      'fail data-planes: Gateway "shop/web": Deployment "shop/web-sallyport" cannot create pods: quota.',
    ]);
  });

  test('that are not connected, late, or cannot serve a part', () => {
    expect(bad({ reports: known([]) })).toEqual([
      'fail data-planes: Gateway "shop/web": pod "shop/a" is not connected to the controller and keeps its configuration',
    ]);
    expect(bad({ reports: known([report(2)]) })).toEqual([
      'warn data-planes: Gateway "shop/web": pod "shop/a" serves generation 2, the newest is 3',
    ]);
    // Two replicas know of it: it has reconnected.
    expect(bad({ reports: known([report(2), report(3)]) })).toEqual([]);
    expect(bad({ reports: known([report(3, { 'listener/shop/web/http': 'port 80 is in use' })]) })).toEqual([
      'fail data-planes: Gateway "shop/web": pod "shop/a" cannot serve listener/shop/web/http: port 80 is in use',
    ]);
  });

  test('that have not acknowledged an accepted ListenerSet', () => {
    const set = (status: string, name = 'web'): StoredObject => ({
      kind: 'ListenerSet',
      ref: { group: 'gateway.networking.k8s.io', kind: 'ListenerSet', namespace: 'infra', name: 'more' },
      json: {
        metadata: { namespace: 'infra', name: 'more', generation: 3 },
        spec: { parentRef: { name, namespace: 'shop' } },
        status: { conditions: conditions(['Accepted', status]) },
      },
    });
    const found = (generation: number, one = set('True')): readonly string[] => {
      const generations = { 'Gateway/shop/web': 3, 'ListenerSet/infra/more': generation };
      return bad({
        reports: known([decodeReport(JSON.stringify({ 'shop/web': { a: { generations, problems: {} } } }))]),
        objects: known({ ...objects, listenerSets: [one] }),
      });
    };
    expect(found(3)).toEqual([]);
    expect(found(2)).toEqual([
      'warn data-planes: ListenerSet "infra/more": pod "shop/a" serves generation 2, the newest is 3',
    ]);
    expect(found(2, set('False'))).toEqual([]);
    expect(found(2, set('True', 'other'))).toEqual([]);
  });

  test('that run another version', () => {
    expect(bad({ dataPlanePods: known([pod('a', { image: 'example.com/sallyport:0' })]) })).toEqual([
      `warn data-planes: Gateway "shop/web": a run example.com/sallyport:0, the controller runs ${image}`,
    ]);
  });

  test('of other Gateways do not count', () => {
    expect(bad({ dataPlanePods: known([pod('a', { namespace: 'other' }), pod('b', { gatewayLabel: 'x' })]) })).toEqual([
      'fail data-planes: Gateway "shop/web" has no ready pod: it is not served',
    ]);
  });
});

describe('missing permissions', () => {
  test('of the controller are failures, unless they cannot be checked', () => {
    const verdicts = (controllerPermissions: DoctorFacts['controllerPermissions']): readonly string[] =>
      diagnose({ ...healthy, controller: running, controllerPermissions })
        .filter(({ check }) => check === 'controller-permissions')
        .map(({ status, message }) => `${status} ${message}`);
    const account = 'sallyport-controller';
    const denied = [
      { account, verbs: ['update'], group: 'gateway.networking.k8s.io', resource: 'gateways', subresource: 'status' },
      { account, verbs: ['create', 'patch'], group: 'apps', resource: 'deployments', namespace: 'shop' },
    ];
    expect(verdicts(known({ checked: 9, denied }))).toEqual([
      'fail ServiceAccount "sallyport-system/sallyport-controller" lacks update gateways/status.gateway.networking.k8s.io; create, patch deployments.apps in shop',
    ]);
    expect(verdicts(unknown)).toEqual([
      'warn cannot check the permissions of the controller; this requires permission to create SubjectAccessReviews: pods is forbidden',
    ]);
  });

  test('are told once each, and nothing counts as healthy', () => {
    const found = bad({
      lease: unknown,
      dataPlanePods: unknown,
      deploymentProblems: unknown,
      reports: unknown,
      authorities: unknown,
      objects: known({
        ...objects,
        unobserved: [{ kind: 'Secret', message: 'secrets is forbidden', namespace: undefined }],
      }),
    });
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'warn controller-leader',
      'warn controller-authority',
      'warn objects',
      'warn data-planes',
    ]);
    expect(
      examine({ dataPlanePods: unknown }).some(({ check, status }) => check === 'data-planes' && status === 'ok'),
    ).toBe(false);
  });

  test('of kinds: one sentence for all that are observed in the same way', () => {
    const forbidden = (kind: 'Gateway' | 'HTTPRoute' | 'Namespace', namespace?: string) => ({
      kind,
      message: `${kind} is forbidden`,
      namespace,
    });
    const unobserved = [forbidden('Gateway', 'team'), forbidden('HTTPRoute', 'team'), forbidden('Namespace')];
    expect(bad({ objects: known({ ...objects, unobserved }) })).toEqual([
      'warn objects: Objects of the kinds Gateway, HTTPRoute are observed only in namespace "team". For example: Gateway is forbidden',
      'warn objects: Objects of kind Namespace are not observed: Namespace is forbidden',
    ]);
  });

  const onlyIn = (namespace: string): Partial<ControllerFacts> => ({
    partlyListed: [
      { kind: 'Pod', message: 'pods is forbidden', namespace },
      { kind: 'Deployment', message: 'deployments is forbidden', namespace },
    ],
  });

  test('of pods: data planes of the only observed namespace are judged', () => {
    const note = (namespace: string): string =>
      `warn objects: Objects of the kinds Pod, Deployment are observed only in namespace "${namespace}". For example: pods is forbidden`;
    expect(bad({ ...onlyIn('shop'), dataPlanePods: known([]) })).toEqual([
      note('shop'),
      'fail data-planes: Gateway "shop/web" has no ready pod: it is not served',
    ]);
    const elsewhere = { ...onlyIn('infra'), dataPlanePods: known([]) };
    expect(bad(elsewhere)).toEqual([note('infra')]);
    expect(examine(elsewhere).some(({ check }) => check === 'data-planes')).toBe(false);
  });

  const unseenController =
    'warn controller: unknown: no controller found in namespace "sallyport-system", and another namespace may have one';

  test.each([
    ['with', {}, []],
    ['without', { lease: known(undefined), pods: known([]) }, [unseenController]],
  ])('of GatewayClasses: which Gateways are served is unknown, %s a controller', (_name, changes, controller) => {
    const unobserved = [{ kind: 'GatewayClass' as const, message: 'classes is forbidden', namespace: undefined }];
    const unclassed = known({ ...objects, unobserved, classes: [], gateways: [] });
    expect(bad({ ...changes, objects: unclassed })).toEqual([
      ...controller,
      'warn objects: Objects of kind GatewayClass are not observed: classes is forbidden',
      'warn gateways: unknown which Gateways the controller serves, because objects of kind GatewayClass are not observed: Gateways and their data planes are not checked',
    ]);
  });

  test.each([
    ['the Lease', { lease: unknown, pods: known([]) }],
    ['the objects', { lease: known(undefined), pods: known([]), objects: unknown }],
  ])('of %s: a controller that was not found may exist', (_name, changes) => {
    expect(bad(changes)[0]).toBe(unseenController);
  });

  test('of the controller: Gateways are judged by their statuses', () => {
    const unseen = { lease: unknown, pods: unknown };
    expect(bad({ ...unseen, ...withGateway({ addresses, conditions: conditions(['Accepted', 'False']) }) })).toContain(
      'fail gateways: Gateway "shop/web": Accepted is False (Accepted): ',
    );
    const none = known({ ...objects, classes: [], gateways: [] });
    expect(bad({ ...unseen, objects: none })).toEqual(['warn controller: cannot list pods: pods is forbidden']);
  });

  test('of Gateways: a statement about them names the only observed namespace', () => {
    const unobserved = [{ kind: 'Gateway' as const, message: 'gateways is forbidden', namespace: 'shop' }];
    const good = examine({ objects: known({ ...objects, unobserved }) }).filter(({ status }) => status === 'ok');
    expect(good.slice(-2).map(({ check, message }) => `${check}: ${message}`)).toEqual([
      'gateways: 1 Gateways in namespace "shop" are accepted and programmed',
      'data-planes: 1 pods of 1 Gateways in namespace "shop" are connected and have acknowledged the newest generation',
    ]);
  });

  test('of the settings, and settings that are invalid', () => {
    const withSettings = (settings: ServedObjects['settings']): readonly string[] =>
      bad({ objects: known({ ...objects, settings }) });
    expect(withSettings({ type: 'unread', problem: 'forbidden' })).toEqual([
      'warn settings: cannot read the settings in namespace "sallyport-system": forbidden',
    ]);
    expect(withSettings({ type: 'invalid', problem: 'unknown setting' })).toEqual([
      'fail settings: webhook and controller keep earlier settings, because those in namespace "sallyport-system" are invalid: unknown setting',
    ]);
  });

  test('of everything: no controller is claimed to be absent', () => {
    const found = bad({
      lease: unknown,
      pods: unknown,
      dataPlanePods: unknown,
      deploymentProblems: unknown,
      reports: unknown,
      authorities: unknown,
      objects: unknown,
    });
    expect(found.map((line) => line.split(':')[0])).toEqual(['warn controller', 'warn objects']);
  });
});

describe('certificates', () => {
  function used(notBefore: number, notAfter: number): readonly string[] {
    const facts = {
      type: 'certificate' as const,
      notBefore: new Date(now + notBefore).toISOString(),
      notAfter: new Date(now + notAfter).toISOString(),
    };
    const certificates = [
      { user: 'Gateway shop/web', source: { kind: 'Secret', namespace: 'shop', name: 'tls' }, facts },
    ];
    return bad({ objects: known({ ...objects, certificates }) }).map((line) => line.split(' at ')[0] ?? '');
  }

  test('that expired, are not valid yet, or expire soon', () => {
    expect(used(-90 * day, -1)[0]).toContain('fail certificates: Secret "shop/tls" of Gateway shop/web: expired');
    expect(used(day, 90 * day)[0]).toContain(
      'fail certificates: Secret "shop/tls" of Gateway shop/web: not valid before',
    );
    expect(used(-80 * day, 10 * day)[0]).toContain(
      'warn certificates: Secret "shop/tls" of Gateway shop/web: expires soon',
    );
    expect(used(-60 * day, 30 * day)).toEqual([]);
  });

  test('with a short lifetime are overdue late in it only', () => {
    expect(used(-day / 4, (day * 3) / 4)).toEqual([]);
    expect(used((-day * 9) / 10, day / 10)).toHaveLength(1);
  });

  test('that cannot be used', () => {
    const facts = { type: 'unusable' as const, problem: 'tls.crt is empty' };
    const certificates = [
      { user: 'Gateway shop/web', source: { kind: 'Secret', namespace: 'shop', name: 'tls' }, facts },
    ];
    expect(bad({ objects: known({ ...objects, certificates }) })).toEqual([
      'fail certificates: Secret "shop/tls" of Gateway shop/web: tls.crt is empty',
    ]);
  });
});

test('Services without endpoints behind routes', () => {
  const idle = [
    {
      kind: 'Service' as const,
      namespace: 'shop',
      name: 'cart',
      port: '80',
      users: ['HTTPRoute shop/store', 'TCPRoute shop/db'],
    },
    { kind: 'ServiceImport' as const, namespace: 'shop', name: 'far', port: '80', users: ['HTTPRoute shop/store'] },
  ];
  expect(bad({ objects: known({ ...objects, idle }) })).toEqual([
    'warn backends: Service "shop/cart:80" has no ready endpoint; used by HTTPRoute shop/store, TCPRoute shop/db',
    'warn backends: ServiceImport "shop/far:80" has no ready endpoint; used by HTTPRoute shop/store',
  ]);
});

describe('policies and XBackends', () => {
  function withStatus(kind: 'XBackend' | 'XBackendTrafficPolicy', name: string, ...ancestors: readonly object[]) {
    const group = 'gateway.networking.x-k8s.io';
    return { kind, ref: { group, kind, namespace: 'shop', name }, json: { status: { ancestors } } };
  }
  const ours = { controllerName: 'sallyport.dev/gateway-controller' };
  const rejected = conditions(['Accepted', 'False', 'UnsupportedValue', 'protocol MCP is unsupported']);

  test('that a Gateway of ours does not accept are named, each once', () => {
    const list = [
      withStatus('XBackend', 'fine', { ...ours, conditions: good }),
      withStatus('XBackend', 'partner', { ...ours, conditions: rejected }, { ...ours, conditions: rejected }),
      withStatus('XBackendTrafficPolicy', 'budget', {
        ...ours,
        conditions: conditions(['Accepted', 'False', 'Conflicted', 'older policy']),
      }),
    ];
    expect(bad({ objects: known({ ...objects, stored: list }) })).toEqual([
      'warn policies: XBackend "shop/partner": Accepted is False (UnsupportedValue): protocol MCP is unsupported',
      'warn policies: XBackendTrafficPolicy "shop/budget": Accepted is False (Conflicted): older policy',
    ]);
  });

  test('of other controllers, or that nobody uses, are not', () => {
    const list = [
      withStatus('XBackend', 'theirs', { controllerName: 'example.com/other', conditions: rejected }),
      withStatus('XBackend', 'unused'),
    ];
    expect(bad({ objects: known({ ...objects, stored: list }) })).toEqual([]);
  });
});
