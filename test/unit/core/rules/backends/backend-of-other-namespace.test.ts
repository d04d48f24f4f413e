import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('backend-of-other-namespace', () => {
  test.each<[object]>([
    [{ backendRefs: [ { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api' } ] }],
    [{ backendRefs: [ { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'shop' } ] }],
    [{ backendRefs: [ { name: 'cart', port: 80, namespace: 'team' } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('backend-of-other-namespace', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ backendRefs: [ { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'team' } ] }, [ 'spec.rules[0].backendRefs[0].namespace', 'The XBackend "api" is in the namespace "team", but can only be used in its own. Leave namespace out and create an XBackend in "shop".' ]],
    [{ filters: [ { type: 'RequestMirror', requestMirror: { backendRef: { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'team' } } } ] }, [ 'spec.rules[0].filters[0].requestMirror.backendRef.namespace', 'The XBackend "api" is in the namespace "team", but can only be used in its own. Leave namespace out and create an XBackend in "shop".' ]],
    [{ backendRefs: [ { name: 'cart', port: 80, filters: [ { type: 'RequestMirror', requestMirror: { backendRef: { group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'api', namespace: 'team' } } } ] } ] }, [ 'spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef.namespace', 'The XBackend "api" is in the namespace "team", but can only be used in its own. Leave namespace out and create an XBackend in "shop".' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-of-other-namespace', object(value))).toEqual(expected);
  });
});
