import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../support/evaluation.ts';

const parametersRef = { group: '', kind: 'ConfigMap', name: 'settings', namespace: 'infra' };
const message = 'This controller reads no parameters for a GatewayClass, so the class is not accepted and its Gateways are left alone. Remove parametersRef.';

describe('gateway-class-parameters', () => {
  test('of a class of ours', () => {
    expect(found('gateway-class-parameters', [{ ...ourClass, spec: { ...ourClass.spec, parametersRef } }])).toEqual([['spec.parametersRef', message, 'Accepted InvalidParameters object']]);
  });

  test('of another controller is fine, and so is a class without', () => {
    expect(found('gateway-class-parameters', [{ ...ourClass, spec: { controllerName: 'example.net/controller', parametersRef } }])).toEqual([]);
    expect(found('gateway-class-parameters', [ourClass])).toEqual([]);
  });
});
