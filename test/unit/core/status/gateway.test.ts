import { describe, expect, test } from '@jest/globals';
import type { Acknowledgement } from '../../../../src/core/graph/inputs.ts';
import type { Condition } from '../../../../src/core/status/conditions.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { evaluate, installation } from '../../../support/evaluation.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';
const objects = [
  { apiVersion: gatewayApi, kind: 'GatewayClass', metadata: { name: 'ours' }, spec: { controllerName: installation.controllerName } },
  {
    apiVersion: gatewayApi, kind: 'Gateway', metadata: { name: 'front', namespace: 'infra', generation: 2 },
    spec: { gatewayClassName: 'ours', listeners: [{ name: 'one', port: 80, protocol: 'HTTP' }, { name: 'two', port: 81, protocol: 'HTTP' }] },
  },
];

function programmed(acknowledgement: Partial<Acknowledgement> | undefined): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  const whole = { generation: 2, addresses: [], listenerProblems: {}, ...acknowledgement };
  const { kernel } = evaluate(objects, acknowledgement === undefined ? {} : { acknowledgements: { 'infra/front': whole } });
  const status = kernel.emitted(statuses).get('Gateway/infra/front');
  return status !== undefined && 'listeners' in status ? status.conditions.find(({ type }) => type === 'Programmed') : undefined;
}

describe('Programmed of a Gateway', () => {
  test('is unknown until a data plane has acknowledged the generation', () => {
    expect(programmed(undefined)).toMatchObject({ status: 'Unknown', reason: 'Pending' });
    expect(programmed({ generation: 1 })).toMatchObject({ status: 'Unknown', reason: 'Pending' });
  });

  test('is True when it was acknowledged', () => {
    expect(programmed({})).toMatchObject({ status: 'True', reason: 'Programmed' });
  });

  test('is True while some listener works', () => {
    expect(programmed({ listenerProblems: { one: 'the port is taken' } })).toMatchObject({ status: 'True' });
  });

  test('is False when no listener works, and says why', () => {
    expect(programmed({ listenerProblems: { one: 'the port is taken', two: 'so is this' } })).toMatchObject({
      status: 'False', reason: 'Invalid', message: 'Listener one: the port is taken Listener two: so is this',
    });
  });
});
