import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown =>
  objectOf('XBackendTrafficPolicy', 'v1alpha1', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart' }],
    ...spec,
  });

describe('session-policy-deprecated', () => {
  test.each<[object]>([[{ retryConstraint: { budget: { percent: 20 } } }]])('%j is fine', (value) => {
    expect(remarks('session-policy-deprecated', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { sessionPersistence: { cookie: { name: 'session' } } },
      [
        'spec.sessionPersistence',
        'sessionPersistence of an XBackendTrafficPolicy is deprecated and will be removed. Since v1.7, it is part of XBackend: set spec.sessionPersistence of an XBackend instead.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-policy-deprecated', object(value))).toEqual(expected);
  });

  test('in routes too, since v1.7', () => {
    const route = soundRoute({ sessionPersistence: { cookie: { name: 'session' } } });
    expect(remarks('session-policy-deprecated', route)).toEqual([
      [
        'spec.rules[0].sessionPersistence',
        'sessionPersistence of a route is deprecated and will be removed. Since v1.7, it is part of XBackend: set spec.sessionPersistence of an XBackend instead.',
      ],
    ]);
    expect(remarks('session-policy-deprecated', route, { minor: '1.6', channel: 'experimental' })).toEqual([]);
  });
});
