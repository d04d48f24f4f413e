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
      'Warning BackendNotFound Gateway infra/c section https port 443: ResolvedRefs is False: No cart.',
      'Warning UnsupportedValue Gateway infra/c section https port 443: PartiallyInvalid is True: Dropped Rule 0',
    ]);
    const resolved = { parents: [entry(us, 'c', condition('Accepted', 'True'), condition('ResolvedRefs', 'True'))] };
    expect(told(after, resolved)).toEqual([
      'Normal ResolvedRefs Gateway infra/c section https port 443: ResolvedRefs is True.',
    ]);
  });

  test('acceptance of a route only after a problem', () => {
    const route = (status: string) => ({
      parents: [
        {
          parentRef: { kind: 'Gateway', namespace: 'infra', name: 'a' },
          controllerName: us,
          conditions: [condition('Accepted', status, status === 'True' ? 'Accepted' : 'NotAllowedByListeners')],
        },
      ],
    });
    expect(told({}, route('True'))).toEqual([]);
    expect(told(route('True'), route('False'))).toEqual([
      'Warning NotAllowedByListeners Gateway infra/a: Accepted is False.',
    ]);
    expect(told(route('False'), route('True'))).toEqual(['Normal Accepted Gateway infra/a: Accepted is True.']);
  });

  test('a problem again for every generation that still has it, a success only once', () => {
    const at = (observedGeneration: number, ...conditions: readonly object[]) => ({
      conditions: conditions.map((one) => ({ ...one, observedGeneration })),
    });
    const refused = (message: string) => condition('Accepted', 'False', 'Invalid', message);
    expect(told(at(1, refused('Port 0.')), at(1, refused('Port 70000.')))).toEqual([]);
    expect(told(at(1, refused('Port 0.')), at(2, refused('Port 70000.')))).toEqual([
      'Warning Invalid Accepted is False: Port 70000.',
    ]);
    expect(told(at(1, condition('Accepted', 'True')), at(2, condition('Accepted', 'True')))).toEqual([]);
  });

  test('a refusal without its consequence for Programmed', () => {
    const conditions = (reason: string) => ({
      conditions: [condition('Accepted', 'False', 'NoResources', 'No pods.'), condition('Programmed', 'False', reason)],
    });
    expect(told({}, conditions('Invalid'))).toEqual(['Warning NoResources Accepted is False: No pods.']);
    expect(told({}, conditions('NoResources'))).toEqual(['Warning NoResources Accepted is False: No pods.']);
    expect(told({}, conditions('AddressNotUsable'))).toEqual([
      'Warning NoResources Accepted is False: No pods.',
      'Warning AddressNotUsable Programmed is False.',
    ]);
  });

  test('the same problem with several parents in one Event', () => {
    const after = {
      parents: ['a', 'b', 'c', 'd', 'e'].map((name) => ({
        parentRef: { kind: 'Gateway', namespace: 'infra', name },
        controllerName: us,
        conditions: [condition('ResolvedRefs', 'False', 'BackendNotFound', 'No cart.')],
      })),
    };
    expect(told({}, after)).toEqual([
      'Warning BackendNotFound Gateway infra/a, Gateway infra/b, Gateway infra/c and 2 more: ResolvedRefs is False: No cart.',
    ]);
  });

  test('conditions that exist only while there is a problem', () => {
    const route = {
      parents: [
        {
          parentRef: { kind: 'Gateway', namespace: 'infra', name: 'a' },
          controllerName: us,
          conditions: [
            condition('sallyport.dev/Shadowed', 'True', 'MatchTaken', 'An older route has it.'),
            condition('sallyport.dev/HostnameNotPermitted', 'True', 'HostnameNotPermitted', 'Shop owns it.'),
          ],
        },
      ],
    };
    expect(told({}, route)).toEqual([
      'Warning MatchTaken Gateway infra/a: sallyport.dev/Shadowed is True: An older route has it.',
      'Warning HostnameNotPermitted Gateway infra/a: sallyport.dev/HostnameNotPermitted is True: Shop owns it.',
    ]);
    expect(told(route, { parents: [] })).toEqual([]);
    expect(told({}, { conditions: [condition('SupportedVersion', 'False', 'UnsupportedVersion', 'v0.8.')] })).toEqual([
      'Warning UnsupportedVersion SupportedVersion is False: v0.8.',
    ]);
    expect(told({}, { conditions: [condition('SupportedVersion', 'True')] })).toEqual([]);
  });

  test('of listeners what their owner does not summarize', () => {
    const listeners = [
      {
        name: 'https',
        conditions: [
          condition('Accepted', 'False', 'PortUnavailable', 'Port 1.'),
          condition('ResolvedRefs', 'False', 'InvalidCertificateRef', 'No Secret.'),
          condition('OverlappingTLSConfig', 'True', 'OverlappingHostnames', 'Like b.'),
        ],
      },
    ];
    const overlap = 'Warning OverlappingHostnames Listener https: OverlappingTLSConfig is True: Like b.';
    expect(told({}, { conditions: [condition('Accepted', 'True')], listeners })).toEqual([
      'Normal Accepted Accepted is True.',
      'Warning InvalidCertificateRef Listener https: ResolvedRefs is False: No Secret.',
      overlap,
    ]);
    const summary = condition('ResolvedRefs', 'False', 'ListenersNotResolved', 'Listener https: No Secret.');
    expect(told({}, { conditions: [summary], listeners })).toEqual([
      'Warning ListenersNotResolved ResolvedRefs is False: Listener https: No Secret.',
      overlap,
    ]);
  });

  test.each([
    null,
    7,
    [],
    { conditions: 7 },
    { listeners: [null, 7, { name: 7, conditions: [7] }] },
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
