import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('session-without-end', () => {
  const routeWith = (sessionPersistence: object): unknown =>
    objectOf('HTTPRoute', 'v1', { rules: [{ sessionPersistence }] });

  test.each([
    [{ cookie: {} }],
    [{ cookie: { lifetimeType: 'Session' } }],
    [{ cookie: { lifetimeType: 'Permanent' }, absoluteTimeout: '1h' }],
    [{ header: { name: 'x' } }],
  ])('%j is fine', (session) => {
    expect(refusals('session-without-end', routeWith(session))).toEqual([]);
  });

  test('says what to write', () => {
    expect(refusals('session-without-end', routeWith({ cookie: { lifetimeType: 'Permanent' } }))).toEqual([
      [
        'spec.rules[0].sessionPersistence.absoluteTimeout',
        'absoluteTimeout is required with cookie.lifetimeType: Permanent. Set absoluteTimeout, for example 24h, or use lifetimeType: Session.',
      ],
    ]);
  });

  test('follows the field from place to place', () => {
    const permanent = { lifetimeType: 'Permanent' };
    expect(refusingBundles('session-without-end', routeWith({ cookie: permanent }))).toEqual(['experimental 1.7–1.7']);
    expect(refusingBundles('session-without-end', routeWith({ cookieConfig: permanent }))).toEqual([
      'experimental 1.1–1.6',
    ]);
    expect(
      refusingBundles(
        'session-without-end',
        objectOf('BackendLBPolicy', 'v1alpha2', { sessionPersistence: { cookieConfig: permanent } }),
      ),
    ).toEqual(['experimental 1.1–1.2']);
    expect(
      refusingBundles(
        'session-without-end',
        objectOf('XBackendTrafficPolicy', 'v1alpha1', { sessionPersistence: { cookieConfig: permanent } }),
      ),
    ).toEqual(['experimental 1.3–1.6']);
    expect(
      refusingBundles(
        'session-without-end',
        objectOf('XBackend', 'v1alpha1', { sessionPersistence: { cookie: permanent } }),
      ),
    ).toEqual(['experimental 1.7–1.7']);
  });
});
