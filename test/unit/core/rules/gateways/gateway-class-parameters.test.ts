import { describe, expect, test } from '@jest/globals';
import { found, ourClass, type Facts } from '../../../../support/evaluation.ts';

const ref = { group: '', kind: 'ConfigMap', name: 'settings', namespace: 'infra' };
const judged = (parametersRef: object, facts: Facts = {}) =>
  found('gateway-class-parameters', [{ ...ourClass, spec: { ...ourClass.spec, parametersRef } }], facts);
const refused = (message: string) => [
  [
    'spec.parametersRef',
    `${message} Until then, the GatewayClass is not accepted, and its Gateways are not reconciled.`,
    'Accepted InvalidParameters object',
  ],
];
const withData = (data: Readonly<Record<string, string>>): Facts => ({ parameters: { 'infra/settings': data } });

describe('gateway-class-parameters', () => {
  test('a ConfigMap that is not there, or of no namespace', () => {
    expect(judged(ref)).toEqual(refused('ConfigMap "infra/settings" not found. Check the name, or create it.'));
    expect(judged({ ...ref, namespace: undefined })).toEqual(
      refused(
        'Namespace is required: a GatewayClass is cluster-scoped, and ConfigMap is namespaced. Set namespace to the namespace of the ConfigMap.',
      ),
    );
  });

  test('another kind', () => {
    expect(judged({ ...ref, group: 'example.net', kind: 'Settings' })).toEqual(
      refused('Unsupported parameters kind example.net/Settings. Use kind: ConfigMap and group: "".'),
    );
  });

  test.each<[Readonly<Record<string, string>>, string]>([
    [{ replicas: '0' }, 'replicas must be a number from 1 to 999, not "0".'],
    [{ replicas: 'two' }, 'replicas must be a number from 1 to 999, not "two".'],
    [{ serviceType: 'ExternalName' }, 'serviceType must be LoadBalancer, NodePort or ClusterIP, not "ExternalName".'],
    [{ replica: '2' }, 'unknown parameter "replica", did you mean replicas?'],
    [{ memory: 'much', cpu: '1' }, 'memory must be a quantity such as 128Mi, not "much".'],
    [{ loadBalancerClass: 'a b' }, 'loadBalancerClass must be a name such as example.com/internal, not "a b".'],
    [{ externalTrafficPolicy: 'local' }, 'externalTrafficPolicy must be Cluster or Local, not "local".'],
  ])('%j', (data, problem) => {
    expect(judged(ref, withData(data))).toEqual(
      refused(`Invalid parameters in ConfigMap "infra/settings": ${problem}`),
    );
  });

  test('every parameter that is known, and none, are fine', () => {
    const data = {
      replicas: '3',
      serviceType: 'NodePort',
      loadBalancerClass: 'example.com/internal',
      externalTrafficPolicy: 'Local',
      cpu: '250m',
      memory: '128Mi',
    };
    expect(judged(ref, withData(data))).toEqual([]);
    expect(judged(ref, withData({}))).toEqual([]);
  });

  test('of another controller is fine, and so is a class without', () => {
    expect(
      found('gateway-class-parameters', [
        { ...ourClass, spec: { controllerName: 'example.net/controller', parametersRef: ref } },
      ]),
    ).toEqual([]);
    expect(found('gateway-class-parameters', [ourClass])).toEqual([]);
  });
});
