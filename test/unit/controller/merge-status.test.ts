import { describe, expect, test } from '@jest/globals';
import { mergeStatus, withoutRoom } from '../../../src/controller/merge-status.ts';
import { conditionTypes, type Condition } from '../../../src/core/status/conditions.ts';
import type { GatewayStatus } from '../../../src/core/status/gateway.ts';
import type { RouteStatus } from '../../../src/core/status/route.ts';

const us = 'sallyport.dev/gateway-controller';
const then = '2026-01-01T00:00:00Z';
const now = '2026-02-02T00:00:00Z';
const context = { controllerName: us, now };

function condition(type: string, status: Condition['status'] = 'True', observedGeneration = 2): Condition {
  return { type, status, reason: type, message: '', observedGeneration };
}

function written(type: string, status: Condition['status'] = 'True', observedGeneration = 2) {
  return { ...condition(type, status, observedGeneration), lastTransitionTime: then };
}

const foreignCondition = {
  type: 'example.com/Stale',
  status: 'Unknown',
  reason: 'Seeded',
  message: 'kept',
  observedGeneration: 1,
  lastTransitionTime: then,
  extra: [1],
};

function live(status: unknown, generation = 2) {
  return { metadata: { namespace: 'shop', name: 'thing', generation }, status };
}

function gatewayStatus(overrides: Partial<GatewayStatus> = {}): GatewayStatus {
  return { addresses: [], conditions: [condition('Accepted'), condition('Programmed')], listeners: [], ...overrides };
}

const listener = { name: 'http', supportedKinds: [], attachedRoutes: 1, conditions: [condition('Accepted')] };
const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop', name: 'web' };
const parent = { parentRef, controllerName: us, conditions: [condition('Accepted')] };
const writtenParent = { ...parent, conditions: [written('Accepted')] };
const foreignParent = {
  parentRef: { name: 'other' },
  controllerName: 'example.com/other',
  conditions: [foreignCondition, written('Accepted', 'False')],
};

function route(...parents: RouteStatus['parents']): RouteStatus {
  return { parents };
}

describe('conditions', () => {
  test('a status that is as it must be is not written, whatever the order of keys', () => {
    const reversed = Object.fromEntries(Object.entries(written('Accepted')).toReversed());
    expect(
      mergeStatus(
        live({ addresses: [], conditions: [reversed, written('Programmed')], listeners: [] }),
        gatewayStatus(),
        context,
      ),
    ).toBe('same');
  });

  test('foreign types stay as and where they are, in a Gateway and inside its listeners', () => {
    const status = {
      addresses: [],
      conditions: [foreignCondition, written('Accepted', 'True', 1)],
      listeners: [{ name: 'http', supportedKinds: [], attachedRoutes: 0, conditions: [foreignCondition] }],
    };
    expect(
      mergeStatus(live(status), gatewayStatus({ conditions: [condition('Accepted')], listeners: [listener] }), context),
    ).toEqual({
      addresses: [],
      conditions: [foreignCondition, written('Accepted')],
      listeners: [
        { ...listener, conditions: [foreignCondition, { ...condition('Accepted'), lastTransitionTime: now }] },
      ],
    });
  });

  test.each<{ readonly name: string; readonly before: unknown; readonly after: unknown }>([
    {
      name: 'same status keeps its time though the generation changes',
      before: [written('Accepted', 'True', 1)],
      after: [written('Accepted')],
    },
    {
      name: 'another status gets a new time',
      before: [written('Accepted', 'False')],
      after: [{ ...written('Accepted'), lastTransitionTime: now }],
    },
    {
      name: 'defaults of the CRD are replaced',
      before: [
        {
          type: 'Accepted',
          status: 'Unknown',
          reason: 'Pending',
          message: 'Waiting for controller',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ],
      after: [{ ...written('Accepted'), lastTransitionTime: now }],
    },
    {
      name: 'repetitions of a type go',
      before: [written('Accepted'), written('Accepted', 'False')],
      after: [written('Accepted')],
    },
    {
      name: 'ours that hold no longer go',
      before: [written('SupportedVersion'), written('Accepted')],
      after: [written('Accepted')],
    },
    {
      name: 'null instead of a list is an empty one',
      before: null,
      after: [{ ...written('Accepted'), lastTransitionTime: now }],
    },
    {
      name: 'what is no condition goes',
      before: [null, 3, { status: 'True' }, written('Accepted')],
      after: [written('Accepted')],
    },
    {
      name: 'a leftover of another life of the object is replaced',
      before: [written('Accepted', 'True', 900)],
      after: [written('Accepted')],
    },
  ])('$name', ({ before, after }) => {
    const merged = mergeStatus(
      live({ conditions: before, marker: 1 }),
      { conditions: [condition('Accepted')] },
      context,
    );
    expect(merged).toEqual({ conditions: after, marker: 1 });
  });

  test.each(conditionTypes.gateway.slice(1))('%s of a Gateway goes when it holds no longer', (type) => {
    const status = { addresses: [], conditions: [written('Accepted'), written(type)], listeners: [] };
    expect(mergeStatus(live(status), gatewayStatus({ conditions: [condition('Accepted')] }), context)).toMatchObject({
      conditions: [written('Accepted')],
    });
  });

  test('what was said about a newer generation than ours stays', () => {
    expect(
      mergeStatus(
        live({ conditions: [written('Accepted', 'False', 3)] }, 3),
        { conditions: [condition('Accepted')] },
        context,
      ),
    ).toBe('same');
  });
});

describe('listeners', () => {
  test('entries stand in the order of the specification; those that are gone go', () => {
    const entries = ['gone', 'https', 'http'].map((name) => ({ ...listener, name, conditions: [written('Accepted')] }));
    const wanted = gatewayStatus({ listeners: [listener, { ...listener, name: 'https' }] });
    expect(mergeStatus(live({ listeners: entries }), wanted, context)).toMatchObject({
      listeners: [{ name: 'http', conditions: [written('Accepted')] }, { name: 'https' }],
    });
  });
});

describe('parents', () => {
  test.each<{
    readonly name: string;
    readonly before: readonly unknown[];
    readonly ours: RouteStatus | undefined;
    readonly after: readonly unknown[] | 'same';
  }>([
    {
      name: 'entries of others stay where they are',
      before: [foreignParent, writtenParent],
      ours: route(parent),
      after: 'same',
    },
    {
      name: 'ours come after those of others',
      before: [foreignParent],
      ours: route(parent),
      after: [foreignParent, { ...parent, conditions: [{ ...condition('Accepted'), lastTransitionTime: now }] }],
    },
    {
      name: 'ours go where the route is ours no longer',
      before: [writtenParent, foreignParent],
      ours: undefined,
      after: [foreignParent],
    },
    { name: 'a route that never was ours is left alone', before: [foreignParent], ours: undefined, after: 'same' },
    {
      name: 'an entry with defaults left out is the same entry',
      before: [{ ...writtenParent, parentRef: { name: 'web' } }],
      ours: route(parent),
      after: 'same',
    },
    ...[null, {}, []].map((namespace) => ({
      name: `an entry with the namespace ${JSON.stringify(namespace)} is another entry`,
      before: [{ ...writtenParent, parentRef: { name: 'web', namespace } }],
      ours: route(parent),
      after: [{ ...parent, conditions: [{ ...condition('Accepted'), lastTransitionTime: now }] }],
    })),
    {
      name: 'repetitions of ours go',
      before: [writtenParent, foreignParent, writtenParent],
      ours: route(parent),
      after: [writtenParent, foreignParent],
    },
    {
      name: 'parents that differ by port only are two',
      before: [{ ...writtenParent, parentRef: { ...parentRef, port: 80 } }],
      ours: route(
        { ...parent, parentRef: { ...parentRef, port: 81 } },
        { ...parent, parentRef: { ...parentRef, port: 80 } },
      ),
      after: [
        {
          ...parent,
          parentRef: { ...parentRef, port: 81 },
          conditions: [{ ...condition('Accepted'), lastTransitionTime: now }],
        },
        { ...writtenParent, parentRef: { ...parentRef, port: 80 } },
      ],
    },
    {
      name: 'foreign condition types in our entry stay',
      before: [{ ...writtenParent, conditions: [foreignCondition, written('Accepted')] }],
      ours: route(parent),
      after: 'same',
    },
  ])('$name', ({ before, ours, after }) => {
    expect(mergeStatus(live({ parents: before }), ours, context)).toEqual(
      after === 'same' ? 'same' : { parents: after },
    );
  });

  test('a route without status that is not ours is left alone', () => {
    expect(mergeStatus(live(undefined), undefined, context)).toBe('same');
  });
});

describe('ancestors', () => {
  const ancestor = {
    ancestorRef: parentRef,
    controllerName: us,
    conditions: [condition('Accepted'), condition('ResolvedRefs')],
  };
  const writtenAncestor = { ...ancestor, conditions: [written('Accepted'), written('ResolvedRefs')] };
  const foreignAncestor = {
    ancestorRef: { name: 'other' },
    controllerName: 'example.com/other',
    conditions: [foreignCondition],
  };

  test('entries of others stay as and where they are', () => {
    expect(
      mergeStatus(live({ ancestors: [foreignAncestor, writtenAncestor] }), { ancestors: [ancestor] }, context),
    ).toBe('same');
    expect(mergeStatus(live({ ancestors: [writtenAncestor, foreignAncestor] }), { ancestors: [] }, context)).toEqual({
      ancestors: [foreignAncestor],
    });
    expect(mergeStatus(live({ ancestors: [writtenAncestor, foreignAncestor] }), undefined, context)).toEqual({
      ancestors: [foreignAncestor],
    });
  });
});

describe('limits of the CRDs', () => {
  function lengthOf(merged: unknown, field: string): number {
    return ((merged as Readonly<Record<string, readonly unknown[]>>)[field] ?? []).length;
  }
  const named = (name: string) => ({ ...parentRef, name });

  test('ours find room for 32 parents and 16 ancestors, and those of others never go', () => {
    const others = Array.from({ length: 30 }, (_, index) => ({
      ...foreignParent,
      parentRef: { name: `other-${index}` },
    }));
    const merged = mergeStatus(
      live({ parents: others }),
      route(...['a', 'b', 'c'].map((name) => ({ ...parent, parentRef: named(name) }))),
      context,
    );
    expect(merged).toMatchObject({ parents: [...others, { parentRef: named('a') }, { parentRef: named('b') }] });
    expect(lengthOf(merged, 'parents')).toBe(32);
    expect(
      mergeStatus(
        live(merged),
        route(...['a', 'b', 'c'].map((name) => ({ ...parent, parentRef: named(name) }))),
        context,
      ),
    ).toBe('same');
    const ancestors = Array.from({ length: 20 }, (_, index) => ({
      ancestorRef: named(`a-${index}`),
      controllerName: us,
      conditions: [condition('Accepted')],
    }));
    expect(lengthOf(mergeStatus(live({}), { ancestors }, context), 'ancestors')).toBe(16);
  });

  test('ours find room among eight conditions', () => {
    const others = Array.from({ length: 7 }, (_, index) => ({ ...foreignCondition, type: `example.com/${index}` }));
    const merged = mergeStatus(
      live({ conditions: others }),
      { conditions: [condition('Accepted'), condition('SupportedVersion')] },
      context,
    );
    expect(merged).toMatchObject({ conditions: [...others, condition('Accepted')] });
    expect(lengthOf(merged, 'conditions')).toBe(8);
  });
});

describe('statuses of other kinds', () => {
  test('a GatewayClass gets its features', () => {
    const ours = { conditions: [condition('Accepted')], supportedFeatures: [{ name: 'HTTPRoute' }] };
    expect(mergeStatus(live({ conditions: [written('Accepted')], other: 1 }), ours, context)).toEqual({
      conditions: [written('Accepted')],
      other: 1,
      supportedFeatures: [{ name: 'HTTPRoute' }],
    });
  });

  test('a ListenerSet keeps condition types that are ours on a Gateway only', () => {
    const ours = { conditions: [condition('Accepted'), condition('Programmed')], listeners: [listener] };
    const merged = mergeStatus(
      live({
        conditions: [foreignCondition, written('ResolvedRefs', 'False'), written('Accepted')],
        listeners: [{ name: 'gone' }],
      }),
      ours,
      context,
    );
    expect(merged).toMatchObject({
      conditions: [foreignCondition, written('ResolvedRefs', 'False'), written('Accepted'), { type: 'Programmed' }],
      listeners: [{ name: 'http', attachedRoutes: 1 }],
    });
    expect(merged).not.toHaveProperty('addresses');
  });
});

test('what has no room in a status is known: the last parents, and those that others leave no room for', () => {
  const ours = route(
    ...Array.from({ length: 34 }, (_, number) => ({ ...parent, parentRef: { ...parentRef, name: `gw-${number}` } })),
  );
  const names = (status: unknown) =>
    withoutRoom(ours, mergeStatus(live(status), ours, context), us).map(({ ref }) => ref.name);
  expect(names({})).toEqual(['gw-32', 'gw-33']);
  expect(names({ parents: [foreignParent] })).toEqual(['gw-31', 'gw-32', 'gw-33']);
  expect(withoutRoom(gatewayStatus(), {}, us)).toEqual([]);
});
