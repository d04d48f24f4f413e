import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  bundles,
  evaluate,
  formatDuration,
  parse,
  parseDuration,
  validate,
  type Options,
} from '../../../src/library/index.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';

function route(spec: object, name = 'cart'): object {
  return { apiVersion: gatewayApi, kind: 'HTTPRoute', metadata: { name, namespace: 'shop' }, spec };
}

const wrong = route({
  parentRefs: [{ name: 'web' }],
  rules: [
    {
      filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }],
      timeouts: { request: '1s', backendRequest: '2s' },
    },
  ],
});
const gatewayClass = {
  apiVersion: gatewayApi,
  kind: 'GatewayClass',
  metadata: { name: 'ours' },
  spec: { controllerName: 'example.net/mine' },
};
const gateway = {
  apiVersion: gatewayApi,
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
};

describe('parse', () => {
  test('gives objects with their places, and problems', () => {
    const { objects, problems } = parse(
      'kind: A\nspec:\n  port: 1\n---\nkind: [\n---\nkind: List\nitems:\n- kind: B\n',
    );
    expect(objects.map(({ object, position }) => [object, position])).toEqual([
      [
        { kind: 'A', spec: { port: 1 } },
        { line: 1, column: 1 },
      ],
      [{ kind: 'B' }, { line: 9, column: 3 }],
    ]);
    expect(objects[0]?.locate(['spec', 'port'])).toEqual({ line: 3, column: 3 });
    expect(problems).toEqual([
      {
        severity: 'error',
        position: { line: expect.any(Number), column: expect.any(Number) },
        message: expect.stringContaining('invalid YAML'),
      },
    ]);
  });
});

describe('validate', () => {
  test('tells what is wrong with an object, whatever other objects there are', () => {
    expect(validate(wrong)).toEqual([
      {
        rule: 'backend-request-timeout',
        severity: 'error',
        path: ['spec', 'rules', 0, 'timeouts', 'backendRequest'],
        field: 'spec.rules[0].timeouts.backendRequest',
        message: expect.stringContaining('Use backendRequest: 1s or less'),
      },
    ]);
  });

  test('knows bundles, channels and profiles', () => {
    const retry = route({ rules: [{ retry: { attempts: 2 } }] });
    const rules = (options: Parameters<typeof validate>[1]) =>
      validate(retry, options).map(({ rule, severity }) => `${rule} ${severity}`);
    expect(rules({ bundle: 'v1.3.0' })).toContain('schema-unknown-field warning');
    expect(rules({ bundle: '1.3', profile: 'strict' })).toContain('schema-unknown-field error');
    expect(rules({ bundle: 'v1.3', channel: 'experimental' })).not.toContain('schema-unknown-field warning');
  });

  test('judges kinds that are not served, and leaves other projects alone', () => {
    expect(
      validate({
        apiVersion: gatewayApi,
        kind: 'GRPCRoute',
        metadata: { name: 'a' },
        spec: { parentRefs: [{ name: 'web' }], rules: 'none' },
      }).map(({ rule }) => rule),
    ).toEqual(['schema']);
    expect(validate({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } })).toEqual([]);
    expect(validate({ kind: 'HTTPRoute' })).toMatchObject([{ rule: 'invalid-object', severity: 'error', field: '' }]);
  });

  test('refuses a bundle that is none', () => {
    expect(() => validate(wrong, { bundle: 'v0.8.1' })).toThrow(
      new RangeError(
        'bundle "v0.8.1": not a release from v1.0 to v1.7; known are v1.0, v1.1, v1.2, v1.3, v1.4, v1.5, v1.6, v1.7',
      ),
    );
  });

  test('refuses other choices that nobody offers, and takes an absent one for none', () => {
    const untyped = (options: Readonly<Record<string, unknown>>): Options => options;
    expect(() => validate(wrong, untyped({ channel: 'stable' }))).toThrow(
      new RangeError('channel "stable"; known are standard, experimental'),
    );
    expect(() => validate(wrong, untyped({ profile: 'lenient' }))).toThrow(
      new RangeError('profile "lenient"; known are audit, standard, strict'),
    );
    expect(
      validate(
        wrong,
        untyped({ bundle: undefined, channel: undefined, profile: undefined, controllerName: undefined }),
      ),
    ).toEqual(validate(wrong));
  });

  test('throws on no object', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(Array.isArray(validate(json))).toBe(true);
        expect(evaluate([json])).toHaveLength(1);
      }),
    );
  });

  test.each([
    ['a list with a hole', () => withHole(1), [null]],
    ['a list with a hole before a value', () => Object.assign(withHole(2), { 1: {} }), [null, {}]],
    ['a revoked proxy', revoked, undefined],
  ] as const)('takes %s for the JSON that would be sent', (_name, rules, sent) => {
    const json = sent === undefined ? undefined : route({ rules: sent });
    expect(validate(route({ rules: rules() }))).toEqual(validate(json));
    const findings = (object: unknown) => evaluate([object, wrong]).map((one) => one.findings);
    expect(findings(route({ rules: rules() }))).toEqual(findings(json));
  });

  function withHole(length: number): unknown[] {
    const list: unknown[] = [];
    list.length = length;
    return list;
  }

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
});

describe('evaluate', () => {
  test('tells what is wrong between objects', () => {
    const rules = (...objects: readonly object[]) =>
      evaluate(objects).map(({ findings }) => findings.map(({ rule }) => rule));
    expect(rules(wrong)).toEqual([['backend-request-timeout', 'parent-not-found']]);
    expect(rules(wrong, gateway, gatewayClass)).toEqual([['backend-request-timeout'], [], []]);
  });

  test('gives the statuses of the controller that is named', () => {
    const [, other] = evaluate([gatewayClass, gateway]);
    expect(other).not.toHaveProperty('status');
    const [, mine, attached] = evaluate([gatewayClass, gateway, route({ parentRefs: [{ name: 'web' }] })], {
      controllerName: 'example.net/mine',
    });
    expect(mine?.status).toMatchObject({ listeners: [{ name: 'http', attachedRoutes: 1 }] });
    expect(attached?.status).toMatchObject({ parents: [{ controllerName: 'example.net/mine' }] });
  });

  test('gives equal objects the same findings and status', () => {
    const { spec, ...rest } = gateway;
    const [, first, second] = evaluate([gatewayClass, gateway, { spec, ...rest }], {
      controllerName: 'example.net/mine',
    });
    expect(first?.status).toBeDefined();
    expect([second?.findings, second?.status]).toEqual([first?.findings, first?.status]);
  });

  test('reads a selector again that the program has changed since', () => {
    const matchLabels = { team: 'cart' };
    const namespaces = { from: 'Selector', selector: { matchLabels } };
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces } }];
    const selective = { ...gateway, spec: { ...gateway.spec, listeners } };
    const apps = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps', labels: { team: 'shop' } } };
    const attached = {
      apiVersion: gatewayApi,
      kind: 'HTTPRoute',
      metadata: { name: 'cart', namespace: 'apps' },
      spec: { parentRefs: [{ name: 'web', namespace: 'shop' }] },
    };
    const reasons = (): unknown =>
      evaluate([apps, gatewayClass, selective, attached], { controllerName: 'example.net/mine' })[3]?.status?.[
        'parents'
      ];
    expect(reasons()).toMatchObject([{ conditions: [{ type: 'Accepted', reason: 'NotAllowedByListeners' }, {}] }]);
    matchLabels.team = 'shop';
    expect(reasons()).toMatchObject([{ conditions: [{ type: 'Accepted', reason: 'Accepted' }, {}] }]);
  });

  test('keeps the order, and counts the first of two', () => {
    const second = { ...gateway, spec: { gatewayClassName: 'ours' } };
    const [first, rest] = evaluate([gateway, second]);
    expect([first?.object, rest?.object]).toEqual([gateway, second]);
    expect(first?.findings).toEqual([]);
    expect(rest?.findings).toMatchObject([{ rule: 'duplicate-object', severity: 'error' }]);
  });
});

describe('durations', () => {
  test('are read and written', () => {
    expect(parseDuration('1h30m')).toEqual({ ok: true, milliseconds: 5_400_000 });
    expect(parseDuration('1.5h')).toMatchObject({ ok: false });
    expect(formatDuration(5_400_000)).toBe('1h30m');
    expect(formatDuration(0.5)).toBeUndefined();
  });
});

test('bundles are those that options may name', () => {
  expect(bundles.map((bundle) => validate(gateway, bundle))).toEqual(bundles.map(() => []));
  expect(bundles.length).toBe(16);
});
