import { describe, expect, test } from '@jest/globals';
import { objectOf, remarks } from '../../../../support/rules.ts';

const object = (ref: object): unknown => objectOf('XTelemetryPolicy', 'v1alpha1', { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front', ...ref }], tracing: { mode: 'Disabled' } });

describe('telemetry-target-kind', () => {
  test.each<[object]>([
    [{}],
  ])('%j is fine', (value) => {
    expect(remarks('telemetry-target-kind', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ kind: 'HTTPRoute' }, [ 'spec.targetRefs[0].kind', 'Implementations need to support a Gateway as target, not the kind "HTTPRoute" of the group "gateway.networking.k8s.io". Write kind: Gateway and group: gateway.networking.k8s.io.' ]],
    [{ group: '', kind: 'Service' }, [ 'spec.targetRefs[0].kind', 'Implementations need to support a Gateway as target, not the kind "Service" of the group "". Write kind: Gateway and group: gateway.networking.k8s.io.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('telemetry-target-kind', object(value))).toEqual(expected);
  });
});
