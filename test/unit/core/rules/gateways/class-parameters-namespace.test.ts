import { describe, expect, test } from '@jest/globals';
import { remarks } from '../../../../support/rules.ts';

const object = (ref: object): unknown => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'internal' },
  spec: {
    controllerName: 'example.com/gateway',
    parametersRef: { group: '', kind: 'ConfigMap', name: 'settings', ...ref },
  },
});

describe('class-parameters-namespace', () => {
  test.each<[object]>([[{ namespace: 'infra' }], [{ group: 'example.com', kind: 'Settings' }]])(
    '%j is fine',
    (value) => {
      expect(remarks('class-parameters-namespace', object(value))).toEqual([]);
    },
  );

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {},
      [
        'spec.parametersRef.namespace',
        'Namespace is required: a GatewayClass is cluster-scoped, and ConfigMap is namespaced. Set namespace to the namespace of the ConfigMap.',
      ],
    ],
    [
      { kind: 'Namespace', namespace: 'shop' },
      ['spec.parametersRef.namespace', 'Namespace is not allowed: Namespace is cluster-scoped. Remove namespace.'],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('class-parameters-namespace', object(value))).toEqual(expected);
  });
});
