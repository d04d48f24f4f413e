import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (spec: object): unknown => objectOf('BackendTLSPolicy', 'v1', { targetRefs: [{ group: '', kind: 'Service', name: 'cart' }], validation: { hostname: 'cart.example.com', wellKnownCACertificates: 'System' }, ...spec });

describe('policy-target-kind', () => {
  test.each<[object]>([
    [{}],
  ])('%j is fine', (value) => {
    expect(remarks('policy-target-kind', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ targetRefs: [ { group: 'core', kind: 'Service', name: 'cart' } ] }, [ 'spec.targetRefs[0].kind', 'Implementations need to support a Service as target, not the kind "Service" of the group "core". Write group: "".' ]],
    [{ targetRefs: [ { group: 'example.com', kind: 'Backend', name: 'cart' } ] }, [ 'spec.targetRefs[0].kind', 'Implementations need to support a Service as target, not the kind "Backend" of the group "example.com". Write kind: Service and group: "" unless your implementation documents this kind.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('policy-target-kind', object(value))).toEqual(expected);
  });
});
