import { describe, expect, test } from '@jest/globals';
import { mayRefer, permissions } from '../../../../src/core/graph/grants.ts';
import { objectCell } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { candidateOf, evaluate, grantIn } from '../../../support/evaluation.ts';

const route = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' };
const service = { group: '', kind: 'Service' };

/** Whether HTTPRoutes of `shop` may refer to Service `infra/cart` where there is this grant. */
function isGranted(from: unknown, to: unknown, name = 'cart'): boolean {
  return mayRefer(evaluate([grantIn('infra', from, to)]).kernel.read, [
    route.group,
    route.kind,
    route.namespace,
    '',
    'Service',
    'infra',
    name,
  ]);
}

describe('a reference across namespaces is granted', () => {
  test.each([
    ['to all of a kind', route, service],
    ['by name', route, { ...service, name: 'cart' }],
  ])('%s', (_, from, to) => {
    expect(isGranted(from, to)).toBe(true);
  });

  test('within its namespace, whatever there is', () => {
    expect(mayRefer(evaluate([]).kernel.read, [route.group, route.kind, 'infra', '', 'Service', 'infra', 'cart'])).toBe(
      true,
    );
  });
});

test('each of many referrers may refer to each of many targets, which takes one bucket for each target', () => {
  const namespaces = Array.from({ length: 16 }, (_, index) => `n${index}`);
  const names = Array.from({ length: 16 }, (_, index) => `s${index}`);
  const { read } = evaluate([
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ReferenceGrant',
      metadata: { name: 'allow', namespace: 'infra' },
      spec: {
        from: namespaces.map((namespace) => ({ ...route, namespace })),
        to: names.map((name) => ({ ...service, name })),
      },
    },
  ]).kernel;
  const granted = (namespace: string, name: string) =>
    mayRefer(read, [route.group, route.kind, namespace, '', 'Service', 'infra', name]);
  expect(namespaces.every((namespace) => names.every((name) => granted(namespace, name)))).toBe(true);
  expect([granted('n0', 's16'), granted('n16', 's0'), granted('', 's0')]).toEqual([false, false, false]);
  const buckets = [...permissions.entries(read, 'ReferenceGrant', 'infra', 'allow')].map(({ bucket }) => bucket);
  // One for each name, and one that says that there are names.
  expect(new Set(buckets).size).toBe(17);
});

describe('references to many names of another namespace', () => {
  const needs = (names: number): unknown => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      rules: [
        {
          backendRefs: Array.from({ length: names }, (_, name) => ({ name: `s${name}`, namespace: 'infra', port: 80 })),
        },
      ],
    },
  });
  const costOf = (objects: readonly unknown[]): object => {
    const { queries, buckets } = evaluate(objects).kernel.statistics();
    return { queries, buckets };
  };

  test('cost the same as one while no grant is for a single name', () => {
    expect(costOf([needs(16)])).toEqual(costOf([needs(1)]));
    const grant = grantIn('infra', { ...route, namespace: 'other' }, service);
    expect(costOf([needs(16), grant])).toEqual(costOf([needs(1), grant]));
  });

  test('are granted by name as soon as there is such a grant, and no longer than it', () => {
    const { kernel } = evaluate([needs(3)]);
    const granted = (): readonly boolean[] =>
      ['s0', 's1'].map((name) =>
        mayRefer(kernel.read, [route.group, route.kind, 'shop', '', 'Service', 'infra', name]),
      );
    const answers = [granted()];
    for (const grant of [grantIn('infra', route, { ...service, name: 's1' }), undefined]) {
      const resource = grant === undefined ? undefined : candidateOf(grant).resource;
      kernel.apply([write(objectCell, ['ReferenceGrant', 'infra', 'allow'], resource)]);
      answers.push(granted());
    }
    expect(answers).toEqual([
      [false, false],
      [false, true],
      [false, false],
    ]);
  });
});

test('a reference is granted as long as one of the grants that say the same is left', () => {
  const same = ['one', 'other'].map((name) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ReferenceGrant',
    metadata: { name, namespace: 'infra' },
    spec: { from: [route], to: [service] },
  }));
  const { kernel } = evaluate(same);
  const granted = (): boolean =>
    mayRefer(kernel.read, [route.group, route.kind, 'shop', '', 'Service', 'infra', 'cart']);
  const answers = [granted()];
  for (const name of ['one', 'other']) {
    kernel.apply([write(objectCell, ['ReferenceGrant', 'infra', name], undefined)]);
    answers.push(granted());
  }
  expect(answers).toEqual([true, true, false]);
});

describe('a reference across namespaces is not granted', () => {
  test.each([
    ['to another kind', route, { ...service, kind: 'Secret' }],
    ['to a kind of another group', route, { ...service, group: 'example.net' }],
    ['to another name', route, { ...service, name: 'stock' }],
    ['by a name that looks like all names', route, { ...service, name: '*' }],
    ['by an empty name', route, { ...service, name: '' }],
    ['by a name that cannot be read', route, { ...service, name: ['cart'] }],
    ['from another namespace', { ...route, namespace: 'other' }, service],
    ['from a kind without a group', { kind: 'HTTPRoute', namespace: 'shop' }, service],
  ])('%s', (_, from, to) => {
    expect(isGranted(from, to)).toBe(false);
  });

  test('by what no schema has room for', () => {
    const grant = (items: number): unknown => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ReferenceGrant',
      metadata: { name: 'allow', namespace: 'infra' },
      spec: {
        from: [...Array.from({ length: items - 1 }, () => ({ ...route, namespace: 'other' })), route],
        to: [service],
      },
    });
    const query = (items: number): boolean =>
      mayRefer(evaluate([grant(items)]).kernel.read, [
        route.group,
        route.kind,
        route.namespace,
        '',
        'Service',
        'infra',
        'cart',
      ]);
    expect([query(16), query(17), query(20_000)]).toEqual([true, false, false]);
  });
});
