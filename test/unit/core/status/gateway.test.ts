import { describe, expect, test } from '@jest/globals';
import { dataPlaneCell, type Acknowledgement, type DataPlaneFacts } from '../../../../src/core/graph/inputs.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import type { Condition } from '../../../../src/core/status/conditions.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { evaluate, installation } from '../../../support/evaluation.ts';

const gatewayApi = 'gateway.networking.k8s.io/v1';
const objects = [
  {
    apiVersion: gatewayApi,
    kind: 'GatewayClass',
    metadata: { name: 'ours' },
    spec: { controllerName: installation.controllerName },
  },
  {
    apiVersion: gatewayApi,
    kind: 'Gateway',
    metadata: { name: 'front', namespace: 'infra', generation: 2 },
    spec: {
      gatewayClassName: 'ours',
      listeners: [
        { name: 'one', port: 80, protocol: 'HTTP' },
        { name: 'two', port: 81, protocol: 'HTTP' },
      ],
    },
  },
];

function conditionsWith(dataPlane: DataPlaneFacts): Readonly<Record<string, unknown>> {
  const { kernel } = evaluate(objects, {
    acknowledgements: { 'Gateway/infra/front': { generation: 2, addresses: [], listenerProblems: {} } },
  });
  kernel.apply([write(dataPlaneCell, ['infra', 'front'], dataPlane)]);
  const status = kernel.emitted(statuses).get('Gateway/infra/front');
  if (status === undefined || !('listeners' in status)) throw new Error('the Gateway has a status');
  const pairs = (conditions: readonly Condition[]) =>
    Object.fromEntries(conditions.map(({ type, status: value, reason, message }) => [type, [value, reason, message]]));
  return { gateway: pairs(status.conditions), listener: pairs(status.listeners[0]?.conditions ?? []) };
}

function programmed(
  acknowledgement: Partial<Acknowledgement> | undefined,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  const whole = { generation: 2, addresses: [], listenerProblems: {}, ...acknowledgement };
  const { kernel } = evaluate(
    objects,
    acknowledgement === undefined ? {} : { acknowledgements: { 'Gateway/infra/front': whole } },
  );
  const status = kernel.emitted(statuses).get('Gateway/infra/front');
  return status !== undefined && 'listeners' in status
    ? status.conditions.find(({ type }) => type === 'Programmed')
    : undefined;
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
      status: 'False',
      reason: 'Invalid',
      message: 'Listener one: the port is taken Listener two: so is this',
    });
  });
});

describe('data planes', () => {
  test('that cannot be make a Gateway that is not accepted, while its listeners are', () => {
    const message = 'Deployment infra/front-sallyport: exceeded quota.';
    expect(conditionsWith({ refusal: { reason: 'NoResources', message }, remark: '' })).toMatchObject({
      gateway: { Accepted: ['False', 'NoResources', message], Programmed: ['False', 'NoResources', message] },
      listener: { Accepted: ['True', 'Accepted', ''], Programmed: ['False', 'NoResources', message] },
    });
  });

  test('that are not all well are remarked upon beside what works', () => {
    expect(conditionsWith({ remark: 'Pod one lags.' })).toMatchObject({
      gateway: { Accepted: ['True', 'Accepted', ''], Programmed: ['True', 'Programmed', 'Pod one lags.'] },
    });
  });
});

describe('addresses', () => {
  const problem = { reason: 'AddressNotAssigned', message: 'No address is free.' } as const;

  test('that are known not to be had make a Gateway that is accepted, and not programmed', () => {
    expect(conditionsWith({ remark: '', addressProblem: problem })).toMatchObject({
      gateway: {
        Accepted: ['True', 'Accepted', ''],
        Programmed: ['False', 'AddressNotAssigned', 'No address is free.'],
      },
    });
  });

  test('are not what matters where nothing serves the Gateway', () => {
    expect(
      conditionsWith({ refusal: { reason: 'NoResources', message: 'No room.' }, remark: '', addressProblem: problem }),
    ).toMatchObject({ gateway: { Programmed: ['False', 'NoResources', 'No room.'] } });
  });

  test.each([
    ['2001:DB8:0::1', '2001:db8::1', 'True'],
    ['2001:db8::1', '2001:db8::2', 'False'],
    ['192.0.2.1', '192.0.2.1', 'True'],
  ])('%s that was asked for and %s that was given: Programmed is %s', (value, given, expected) => {
    const [gatewayClass, gateway] = objects;
    const asking = { ...gateway, spec: { ...gateway?.spec, addresses: [{ type: 'IPAddress', value }] } };
    const { kernel } = evaluate([gatewayClass, asking], {
      acknowledgements: {
        'Gateway/infra/front': {
          generation: 2,
          addresses: [{ type: 'IPAddress', value: given }],
          listenerProblems: {},
        },
      },
    });
    expect(kernel.emitted(statuses).get('Gateway/infra/front')).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Programmed', status: expected })]),
      addresses: expected === 'True' ? [{ value: given }] : [],
    });
  });
});
