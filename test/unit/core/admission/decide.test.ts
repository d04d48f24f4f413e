import { describe, expect, jest, test } from '@jest/globals';
import { decisionOf } from '../../../../src/core/admission/decide.ts';
import { objectCell } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { configuration } from '../../../../src/core/routing/emit.ts';
import { winnersOfRequests } from '../../../../src/core/rules/matches/taken-requests.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { evaluate, standardPolicy } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';
import { cartRoute, decide, platform, requestOf, rule, wrongRule } from './requests.ts';

const world = evaluate(platform);
const silence = { allowed: true, warnings: [], findings: [], auditAnnotations: {} };
const problem =
  'backendRefs conflicts with the RequestRedirect filter: the rule redirects every request, so no backend gets one. Remove backendRefs, or remove the filter.';

describe('CREATE', () => {
  test('of a good route says nothing', () => {
    expect(decide(world, requestOf({ object: cartRoute([rule]) }))).toEqual(silence);
  });

  test('of a wrong one is denied: causes with field paths, and a message that is complete alone', () => {
    expect(decide(world, requestOf({ object: cartRoute([rule, wrongRule]) }))).toEqual({
      allowed: false,
      causes: [
        {
          field: 'spec.rules[1].filters[0]',
          message: `${problem} [redirect-with-backends]`,
          reason: 'FieldValueInvalid',
        },
      ],
      message: `HTTPRoute "shop/cart" has 1 problem: spec.rules[1].filters[0]: ${problem} [redirect-with-backends]`,
      warnings: [],
      findings: [{ rule: 'redirect-with-backends', mode: 'deny' }],
      auditAnnotations: { denied: 'redirect-with-backends' },
    });
  });

  test('of a route that affects many others reads them one by one, so that the review yields in between', () => {
    const front = gatewayWith({
      name: 'web',
      port: 80,
      protocol: 'HTTP',
      allowedRoutes: { namespaces: { from: 'All' } },
    });
    const others = Array.from({ length: 60 }, (_, index) => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: `route-${index}`, namespace: 'market' },
      spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: [`${index}.example.com`] },
    }));
    const { kernel } = evaluate([...platform, front, ...others]);
    const contribute = jest.spyOn(winnersOfRequests, 'entries');
    const counts: number[] = [];
    const request = requestOf({ object: cartRoute([rule]) });
    const steps = decisionOf(request, { kernel, policy: standardPolicy, mayContinue: () => true });
    for (let done = false; !done;) {
      const before = contribute.mock.calls.length;
      done = steps.next().done === true;
      counts.push(contribute.mock.calls.length - before);
    }
    expect(contribute.mock.calls.length).toBeGreaterThan(others.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);

    // The same with a change in the middle, after which the comparison begins again.
    counts.length = 0;
    let hasChanged = false;
    const again = decisionOf(request, { kernel, policy: standardPolicy, mayContinue: () => true });
    for (let done = false; !done;) {
      const before = contribute.mock.calls.length;
      done = again.next().done === true;
      counts.push(contribute.mock.calls.length - before);
      const compared = counts.reduce((sum, count) => sum + count, 0);
      if (compared < 20 || hasChanged) continue;
      kernel.apply([write(objectCell, ['Namespace', '', 'elsewhere'], undefined)]);
      hasChanged = true;
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(others.length + 20);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    contribute.mockRestore();
  });

  test('with an old object that differs from the known one reads what both affect one by one', () => {
    const front = (from: string) =>
      gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from } } }) as object;
    const others = Array.from({ length: 60 }, (_, index) => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: `route-${index}`, namespace: 'market' },
      spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: [`${index}.example.com`] },
    }));
    const { kernel } = evaluate([...platform, front('All'), ...others]);
    const contribute = jest.spyOn(winnersOfRequests, 'entries');
    const counts: number[] = [];
    const request = requestOf({ oldObject: front('Same') });
    const steps = decisionOf(request, { kernel, policy: standardPolicy, mayContinue: () => true });
    for (let done = false; !done;) {
      const before = contribute.mock.calls.length;
      done = steps.next().done === true;
      counts.push(contribute.mock.calls.length - before);
    }
    // Once for the old object and once without it.
    expect(contribute.mock.calls.length).toBeGreaterThanOrEqual(2 * others.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    contribute.mockRestore();
  });

  test('counts several problems, and warns beside them', () => {
    const missing = { backendRefs: [{ name: 'gone', port: 80 }] };
    const verdict = decide(world, requestOf({ object: cartRoute([wrongRule, { ...rule, name: 'Upper' }, missing]) }));
    expect(verdict).toMatchObject({
      allowed: false,
      causes: [{ field: 'spec.rules[1].name' }, { field: 'spec.rules[0].filters[0]' }],
      warnings: [
        '[backend-not-found] spec.rules[2].backendRefs[0]: Service "shop/gone" not found. Check its name and namespace, or create it. Until then, its share of requests is answered with 500.',
      ],
      auditAnnotations: { denied: 'redirect-with-backends,schema', warned: 'backend-not-found' },
    });
    expect(verdict).toHaveProperty('message', expect.stringMatching(/^HTTPRoute "shop\/cart" has 2 problems: .*; /));
  });

  test('what the schema and a denying rule say of one field is said once, by the rule', () => {
    const verdict = decide(world, requestOf({ object: cartRoute([{ ...rule, timeouts: { request: '1.5s' } }]) }));
    expect(verdict).toMatchObject({
      causes: [{ field: 'spec.rules[0].timeouts.request', message: expect.stringContaining('[duration-form]') }],
    });
    expect(verdict).toHaveProperty('causes.length', 1);
  });

  test('no annotation of the object keeps it from being denied', () => {
    const annotations = { 'sallyport.dev/ignore': 'redirect-with-backends: only check listens to this' };
    expect(decide(world, requestOf({ object: cartRoute([wrongRule], { annotations }) }))).toHaveProperty(
      'allowed',
      false,
    );
  });

  test('with generateName the object has no name yet', () => {
    const verdict = decide(
      world,
      requestOf({ object: cartRoute([wrongRule], { name: undefined, generateName: 'cart-' }) }, { name: '' }),
    );
    expect(verdict).toHaveProperty('message', expect.stringMatching(/^HTTPRoute "shop\/cart-\*" has 1 problem/));
  });

  test('the namespace comes from the request where the object has none', () => {
    const verdict = decide(
      world,
      requestOf({ object: cartRoute([wrongRule], { namespace: undefined }) }, { namespace: 'shop' }),
    );
    expect(verdict).toHaveProperty('message', expect.stringMatching(/^HTTPRoute "shop\/cart" has/));
  });

  test('an object that refers to itself by what it brings sees itself', () => {
    const gateway = {
      ...(platform[1] as object),
      metadata: { name: 'twin', namespace: 'shop' },
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [
          { name: 'a', port: 80, protocol: 'HTTP' },
          { name: 'b', port: 80, protocol: 'HTTP' },
        ],
      },
    };
    expect(decide(world, requestOf({ object: gateway })).warnings).toEqual([
      expect.stringContaining('[listener-conflict] spec.listeners[0]: '),
    ]);
  });
});

describe('is never denied:', () => {
  test('a write of status, or of any other subresource', () => {
    expect(decide(world, requestOf({ object: cartRoute([wrongRule]) }, { subResource: 'status' }))).toEqual(silence);
  });

  test('CONNECT', () => {
    expect(decide(world, requestOf({ object: cartRoute([wrongRule]) }, { operation: 'CONNECT' }))).toEqual(silence);
  });

  test('what is being deleted, so that finalizers can go', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(
      decide(world, requestOf({ object: cartRoute([wrongRule], metadata), oldObject: cartRoute([rule], metadata) })),
    ).toEqual(silence);
  });

  test('a change of metadata or status alone', () => {
    const oldObject = { ...cartRoute([wrongRule]), status: { parents: [] } };
    const object = { ...cartRoute([wrongRule], { labels: { team: 'shop' } }), status: { parents: [{}] } };
    expect(decide(world, requestOf({ object, oldObject }))).toEqual(silence);
  });

  test('an object of another kind than the request promises', () => {
    expect(decide(world, requestOf({ object: cartRoute([wrongRule]) }, { kind: 'Gateway' }))).toEqual(silence);
    expect(decide(world, requestOf({ object: cartRoute([wrongRule]) }, { group: 'example.net' }))).toEqual(silence);
  });

  test.each([null, 5, 'text', [], {}, { kind: 'HTTPRoute' }])('no object at all: %j', (object) => {
    expect(decide(world, { ...requestOf({ object: cartRoute([]) }), object })).toEqual(silence);
  });
});

describe('what kubectl noted as applied', () => {
  const note = (fields: object): string => JSON.stringify({ ...cartRoute([{ ...rule, ...fields }]) });
  const annotated = (fields: object, rules: readonly object[] = [rule]) =>
    cartRoute(rules, { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': note(fields) } });
  const dropped = {
    warnings: [expect.stringContaining('[field-pruned] spec.rules[0].sessionPersistence: ')],
    auditAnnotations: { warned: 'field-pruned' },
  };

  test('tells which fields were dropped, when the object is new or nothing else changes', () => {
    expect(decide(world, requestOf({ object: annotated({ sessionPersistence: {} }) }))).toMatchObject({
      allowed: true,
      ...dropped,
    });
    expect(
      decide(world, requestOf({ oldObject: annotated({}), object: annotated({ sessionPersistence: {} }) })),
    ).toMatchObject({ allowed: true, ...dropped });
  });

  test('is no news for whoever writes later without applying', () => {
    const [oldObject, object] = [
      annotated({ sessionPersistence: {} }),
      annotated({ sessionPersistence: {} }, [rule, { ...rule, name: 'more' }]),
    ];
    expect(decide(world, requestOf({ oldObject, object })).warnings).toEqual([]);
  });

  test('is told of kinds that are not supported, too', () => {
    const written = {
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XTelemetryPolicy',
      metadata: { name: 'echo', namespace: 'shop' },
      spec: {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front' }],
        tracing: { mode: 'Enabled', provider: { backendRef: { name: 'collector', port: 4317 } } },
      },
    };
    const applied = JSON.stringify({ ...written, spec: { ...written.spec, rule: [] } });
    const object = {
      ...written,
      metadata: { ...written.metadata, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied } },
    };
    const policy = { bundle: { ...standardPolicy.bundle, channel: 'experimental' } } as const;
    expect(decide(world, requestOf({ object }), { policy }).warnings).toEqual([
      expect.stringContaining('[telemetry-unsupported] kind: '),
      expect.stringContaining('[field-pruned] spec.rule: '),
    ]);
  });
});

describe('policy', () => {
  const wrong = requestOf({ object: cartRoute([wrongRule]) });

  test('audit only records, and tells what would be denied from what would be warned of', () => {
    const missing = { backendRefs: [{ name: 'gone', port: 80 }] };
    expect(
      decide(world, requestOf({ object: cartRoute([wrongRule, missing]) }), { policy: { profile: 'audit' } }),
    ).toEqual({
      allowed: true,
      warnings: [],
      findings: [
        { rule: 'redirect-with-backends', mode: 'would-deny' },
        { rule: 'backend-not-found', mode: 'record' },
      ],
      auditAnnotations: { 'would-deny': 'redirect-with-backends', recorded: 'backend-not-found' },
    });
  });

  test('under audit nothing would be denied that the old object had, or that an override only records', () => {
    const audit = { policy: { profile: 'audit' } } as const;
    const update = requestOf({ object: cartRoute([wrongRule, rule]), oldObject: cartRoute([wrongRule]) });
    expect(decide(world, update, audit).auditAnnotations).toEqual({ recorded: 'redirect-with-backends' });
    expect(
      decide(world, wrong, { policy: { profile: 'audit', overrides: { 'redirect-with-backends': 'record' } } })
        .auditAnnotations,
    ).toEqual({ recorded: 'redirect-with-backends' });
  });

  test('an override beats the profile', () => {
    expect(decide(world, wrong, { policy: { overrides: { 'redirect-with-backends': 'warn' } } })).toMatchObject({
      allowed: true,
      warnings: [`[redirect-with-backends] spec.rules[0].filters[0]: ${problem}`],
      auditAnnotations: { warned: 'redirect-with-backends' },
    });
    expect(decide(world, wrong, { policy: { overrides: { 'redirect-with-backends': 'none' } } })).toEqual(silence);
    expect(
      decide(world, wrong, { policy: { profile: 'audit', overrides: { 'redirect-with-backends': 'deny' } } }),
    ).toHaveProperty('allowed', false);
  });

  const regex = { ...rule, matches: [{ path: { type: 'RegularExpression', value: '(?=a)' } }] };
  const route = cartRoute([regex]);

  test('a rule about our dialect warns', () => {
    const verdict = decide(world, requestOf({ object: route }));
    expect(verdict).toMatchObject({ allowed: true, auditAnnotations: { warned: 'regex-not-re2' } });
    expect(verdict.warnings).toEqual([
      expect.stringMatching(/^\[regex-not-re2\] spec\.rules\[0\]\.matches\[0\]\.path\.value: /),
    ]);
  });

  test('and denies under strict only where every parent is ours', () => {
    const strict = { policy: { profile: 'strict' } } as const;
    const withParents = (...names: readonly string[]) => ({
      ...route,
      spec: { parentRefs: names.map((name) => ({ name })), rules: [regex] },
    });
    const foreign = {
      ...(platform[1] as object),
      metadata: { name: 'foreign', namespace: 'shop' },
      spec: { gatewayClassName: 'other', listeners: [] },
    };
    const shared = evaluate([...platform, foreign]);
    expect(decide(shared, requestOf({ object: withParents('front') }), strict)).toHaveProperty('allowed', false);
    expect(decide(shared, requestOf({ object: withParents('front', 'foreign') }), strict)).toHaveProperty(
      'allowed',
      true,
    );
    expect(decide(shared, requestOf({ object: withParents('front', 'gone') }), strict)).toHaveProperty('allowed', true);
    expect(decide(shared, requestOf({ object: withParents() }), strict)).toHaveProperty('allowed', true);
  });
});

test('nothing of a decision stays: the state answers as before', () => {
  const fresh = evaluate([...platform, cartRoute([rule])]);
  const snapshot = () =>
    structuredClone({
      status: [...fresh.kernel.emitted(statuses)],
      configuration: [...fresh.kernel.emitted(configuration)],
    });
  const before = snapshot();
  decide(fresh, requestOf({ object: cartRoute([wrongRule]), oldObject: cartRoute([rule]) }));
  decide(fresh, requestOf({ oldObject: platform[1] as object }));
  expect(snapshot()).toEqual(before);
});
