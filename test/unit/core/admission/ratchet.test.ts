import { describe, expect, test } from '@jest/globals';
import type { JudgedFinding } from '../../../../src/core/admission/judged-finding.ts';
import { newFindings } from '../../../../src/core/admission/ratchet.ts';
import { runToEnd } from '../../../../src/core/text/steps.ts';
import { evaluate } from '../../../support/evaluation.ts';
import { cartRoute, decide, platform, requestOf, rule, wrongRule } from './requests.ts';

const world = evaluate(platform);
const update = (before: readonly object[], after: readonly object[]) =>
  decide(world, requestOf({ oldObject: cartRoute(before), object: cartRoute(after) }));

test('a subtree that many findings are about is read once, in steps', () => {
  let reads = 0;
  const listener = {
    get hostname() {
      reads += 1;
      return 'x';
    },
  };
  const found = Array.from({ length: 100 }, (_, index): JudgedFinding => ({
    rule: 'namespace-selector',
    path: ['spec', 'listeners', 0, `label${index}`],
    message: 'invalid',
    effect: 'deny',
    withheld: false,
  }));
  const judged = { json: { spec: { listeners: [listener] } }, findings: found };
  const steps = newFindings(judged, judged);
  expect(steps.next()).toEqual({ done: false, value: undefined });
  expect(runToEnd(steps)).toEqual([]);
  expect(reads).toBe(1);
});

describe('on UPDATE', () => {
  test('what the old object had is tolerated, with a warning', () => {
    expect(update([wrongRule], [wrongRule, rule])).toMatchObject({
      allowed: true,
      warnings: [expect.stringMatching(/^\[redirect-with-backends\] spec\.rules\[0\]\.filters\[0\]: /)],
      auditAnnotations: { tolerated: 'redirect-with-backends' },
    });
  });

  test('moving it is tolerated', () => {
    expect(update([wrongRule], [rule, rule, wrongRule])).toMatchObject({
      allowed: true,
      auditAnnotations: { tolerated: 'redirect-with-backends' },
    });
  });

  test('repeating it is not', () => {
    const verdict = update([wrongRule], [wrongRule, wrongRule]);
    expect(verdict).toMatchObject({
      allowed: false,
      causes: [{ field: 'spec.rules[1].filters[0]' }],
      auditAnnotations: { denied: 'redirect-with-backends' },
    });
    expect(verdict.warnings).toHaveLength(1);
  });

  test('changing the part that it stands in is not', () => {
    const worse = { ...wrongRule, filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'http' } }] };
    expect(update([wrongRule], [worse])).toMatchObject({
      allowed: false,
      causes: [{ field: 'spec.rules[0].filters[0]' }],
    });
  });

  test('bringing in something new is not', () => {
    const verdict = update([wrongRule], [wrongRule, { ...rule, timeouts: { request: '1s', backendRequest: '2s' } }]);
    expect(verdict).toMatchObject({
      allowed: false,
      causes: [{ field: 'spec.rules[1].timeouts.backendRequest' }],
      auditAnnotations: { denied: 'backend-request-timeout', tolerated: 'redirect-with-backends' },
    });
  });

  test('a problem of the schema is tolerated like any other', () => {
    const odd = { ...rule, name: 'Upper' };
    expect(update([odd], [odd, rule])).toMatchObject({ allowed: true, auditAnnotations: { tolerated: 'schema' } });
  });

  describe('of a hostname that another namespace owns', () => {
    const owned = evaluate([
      ...platform,
      {
        apiVersion: 'sallyport.dev/v1alpha1',
        kind: 'HostnamePolicy',
        metadata: { name: 'banks' },
        spec: { hostnames: ['shop.example.com', 'bank.example.com'], namespaces: { names: ['bank'] } },
      },
    ]);
    const routeFor = (...hostnames: readonly string[]): object => {
      const route = cartRoute([rule]) as { readonly spec: object };
      return { ...route, spec: { ...route.spec, hostnames } };
    };
    const from = routeFor('shop.example.com', 'free.example.com');

    test('the same hostname is tolerated', () => {
      const object = routeFor('other.example.com', 'shop.example.com');
      expect(decide(owned, requestOf({ oldObject: from, object }))).toMatchObject({
        allowed: true,
        auditAnnotations: { tolerated: 'hostname-not-permitted' },
      });
    });

    test.each([
      ['instead', ['bank.example.com']],
      ['as well', ['bank.example.com', 'shop.example.com']],
    ])('another owned hostname %s is not', (_, hostnames) => {
      expect(decide(owned, requestOf({ oldObject: from, object: routeFor(...hostnames) }))).toMatchObject({
        allowed: false,
        auditAnnotations: { denied: 'hostname-not-permitted' },
      });
    });
  });

  test('a match with a path that another namespace owns is tolerated only on the same hostname', () => {
    const owned = evaluate([
      ...platform,
      {
        apiVersion: 'sallyport.dev/v1alpha1',
        kind: 'HostnamePolicy',
        metadata: { name: 'cart' },
        spec: { hostnames: ['*.example.com'], paths: ['/cart'], namespaces: { names: ['cart'] } },
      },
    ]);
    const routeFor = (...hostnames: readonly string[]): object => {
      const cart = { ...rule, matches: [{ path: { type: 'PathPrefix', value: '/cart' } }] };
      const route = cartRoute([cart]) as { readonly spec: object };
      return { ...route, spec: { ...route.spec, hostnames } };
    };
    const verdictOn = (...hostnames: readonly string[]) =>
      decide(owned, requestOf({ oldObject: routeFor('a.example.com'), object: routeFor(...hostnames) }));
    expect(verdictOn('b.example.org', 'a.example.com')).toMatchObject({ allowed: true });
    expect(verdictOn('a.example.com', 'b.example.com')).toMatchObject({
      allowed: false,
      auditAnnotations: { denied: 'path-not-permitted' },
    });
  });

  test('an old object that cannot be read excuses nothing', () => {
    const request = {
      ...requestOf({ oldObject: cartRoute([]), object: cartRoute([wrongRule]) }),
      oldObject: 'nothing',
    };
    expect(decide(world, request)).toHaveProperty('allowed', false);
  });
});
