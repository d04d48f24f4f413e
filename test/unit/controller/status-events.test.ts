import { describe, expect, test } from '@jest/globals';
import { statusFullEvents, statusEvents } from '../../../src/controller/status-events.ts';

const us = 'example.com/us';

function condition(type: string, status: string, reason = type, message = '') {
  return { type, status, reason, message, observedGeneration: 1 };
}

function told(before: unknown, after: unknown): readonly string[] {
  return statusEvents(
    'HTTPRoute',
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      metadata: { namespace: 'shop', name: 'cart', uid: 'u' },
      status: before,
    },
    after,
    us,
  ).map(({ type, reason, note }) => `${type} ${reason} ${note}`);
}

describe('what people are told when a status changes', () => {
  test('acceptance, once', () => {
    const accepted = { conditions: [condition('Accepted', 'True'), condition('Programmed', 'Unknown', 'Pending')] };
    expect(told({ conditions: [condition('Accepted', 'Unknown', 'Pending')] }, accepted)).toEqual([
      'Normal Accepted Accepted is True.',
    ]);
    expect(told(accepted, accepted)).toEqual([]);
  });

  test('refusal, and another reason for it, but not other words', () => {
    const refused = (reason: string, message: string) => ({
      conditions: [condition('Accepted', 'False', reason, message)],
    });
    expect(told({}, refused('NoResources', 'No room.'))).toEqual(['Warning NoResources Accepted is False: No room.']);
    expect(told(refused('NoResources', 'No room.'), refused('NoResources', 'Still no room.'))).toEqual([]);
    expect(told(refused('NoResources', 'No room.'), refused('Invalid', 'Port 0.'))).toEqual([
      'Warning Invalid Accepted is False: Port 0.',
    ]);
  });

  test('something that is accepted in part is a warning', () => {
    expect(told({}, { conditions: [condition('Accepted', 'True', 'ListenersNotValid', 'Listener a: …')] })).toEqual([
      'Warning ListenersNotValid Accepted is True: Listener a: …',
    ]);
  });

  test('attachments by parent, without those of other controllers', () => {
    const entry = (controllerName: string, name: string, ...conditions: readonly unknown[]) => ({
      parentRef: { kind: 'Gateway', namespace: 'infra', name, sectionName: 'https', port: 443 },
      controllerName,
      conditions,
    });
    const after = {
      parents: [
        entry('example.com/them', 'a', condition('Accepted', 'False', 'NoMatchingParent')),
        entry(us, 'b', condition('Accepted', 'True'), condition('ResolvedRefs', 'True')),
        entry(
          us,
          'c',
          condition('Accepted', 'True'),
          condition('ResolvedRefs', 'False', 'BackendNotFound', 'No cart.'),
          condition('PartiallyInvalid', 'True', 'UnsupportedValue', 'Dropped Rule 0'),
        ),
      ],
    };
    expect(told({}, after)).toEqual([
      'Normal Accepted Gateway infra/b section https port 443: Accepted is True.',
      'Normal Accepted Gateway infra/c section https port 443: Accepted is True.',
      'Warning BackendNotFound Gateway infra/c section https port 443: ResolvedRefs is False: No cart.',
      'Warning UnsupportedValue Gateway infra/c section https port 443: PartiallyInvalid is True: Dropped Rule 0',
    ]);
    const resolved = { parents: [entry(us, 'c', condition('Accepted', 'True'), condition('ResolvedRefs', 'True'))] };
    expect(told(after, resolved)).toEqual([
      'Normal ResolvedRefs Gateway infra/c section https port 443: ResolvedRefs is True.',
    ]);
  });

  test.each([
    null,
    7,
    [],
    { conditions: 7 },
    { parents: [null, 7, { controllerName: us, parentRef: 7, conditions: [7] }] },
  ])('stored statuses may be anything: %j', (status) => {
    expect(() => told(status, status)).not.toThrow();
    expect(() => told({}, status)).not.toThrow();
  });
});

describe('what has no room in a status', () => {
  const ref = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'infra', name: 'late' };
  const entry = {
    ref,
    conditions: [
      { type: 'Accepted', status: 'False', reason: 'StatusFull', message: 'No room.', observedGeneration: 1 },
    ],
  } as const;
  const object = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    metadata: { namespace: 'shop', name: 'cart', uid: 'u' },
  };

  test('of a policy is told to the Gateway', () => {
    expect(statusFullEvents('BackendTLSPolicy', object, [entry])).toEqual([
      {
        type: 'Warning',
        reason: 'StatusFull',
        action: 'Reconcile',
        regarding: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', namespace: 'infra', name: 'late' },
        note: 'The status of BackendTLSPolicy "shop/cart" is full and has no entry for this Gateway: Accepted is False: No room.',
      },
    ]);
  });

  test('of a route is told to its owner', () => {
    expect(statusFullEvents('HTTPRoute', object, [entry])).toEqual([
      expect.objectContaining({
        reason: 'StatusFull',
        regarding: expect.objectContaining({ kind: 'HTTPRoute', name: 'cart' }),
        note: 'The status is full and has no entry for Gateway infra/late: Accepted is False: No room.',
      }),
    ]);
  });
});
