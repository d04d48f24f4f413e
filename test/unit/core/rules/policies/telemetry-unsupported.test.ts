import { describe, expect, test } from '@jest/globals';
import { evaluate } from '../../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../../support/ownership.ts';

const backendRef = { name: 'collector', port: 4317 };
const tracing = { mode: 'Enabled', provider: { backendRef } };

function telemetryPolicy(...gateways: readonly string[]): object {
  const targetRefs = gateways.map((name) => ({ group: 'gateway.networking.k8s.io', kind: 'Gateway', name }));
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XTelemetryPolicy',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { targetRefs, tracing },
  };
}

const world = [
  gatewayClass('ours', 'sallyport.dev/gateway-controller'),
  gatewayClass('theirs', 'example.com/controller'),
  gatewayOf('ours'),
  gatewayOf('theirs'),
];

function judged(object: object, others: readonly object[] = world): readonly (readonly [string, string, string])[] {
  const evaluated = evaluate([object, ...others], { bundle: { minor: '1.7', channel: 'experimental' } });
  const [candidate] = evaluated.candidates;
  if (candidate === undefined) throw new Error('there must be an object');
  return evaluated.judge(candidate).map(({ rule, effect, message }) => [rule, effect, message]);
}

const says =
  'Unsupported kind XTelemetryPolicy: Sallyport does not support it, so the policy has no effect. Remove it, or use a Gateway of a controller that supports it.';

describe('telemetry-unsupported', () => {
  test('warns of a valid object on a Gateway of ours', () => {
    expect(judged(telemetryPolicy('ours'))).toEqual([['telemetry-unsupported', 'warn', says]]);
  });

  test('finds nothing where another controller serves the object', () => {
    expect(judged(telemetryPolicy('theirs'))).toEqual([]);
  });

  test('records where the controller is not known', () => {
    expect(judged(telemetryPolicy('ours'), [])).toEqual([['telemetry-unsupported', 'record', says]]);
    expect(judged(telemetryPolicy('theirs', 'unseen'))).toEqual([['telemetry-unsupported', 'record', says]]);
  });

  test('names the parents that it applies to', () => {
    expect(judged(telemetryPolicy('theirs', 'ours'))).toEqual([
      [
        'telemetry-unsupported',
        'warn',
        `${says} This applies to Gateway "shop/ours", not to the parents of other controllers.`,
      ],
    ]);
  });

  test.each([
    ['a Gateway of ours', 'Gateway', 'ours', 'warn'],
    ['a Gateway of others', 'Gateway', 'theirs', undefined],
    ['a Service', 'Service', 'cart', 'record'],
  ])('judges a policy by its target: %s', (_case, kind, name, effect) => {
    const group = kind === 'Gateway' ? 'gateway.networking.k8s.io' : '';
    const policy = {
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XTelemetryPolicy',
      metadata: { name: 'p', namespace: 'shop' },
      spec: { targetRefs: [{ group, kind, name }], tracing },
    };
    expect(
      judged(policy)
        .filter(([rule]) => rule === 'telemetry-unsupported')
        .map(([, found]) => found),
    ).toEqual(effect === undefined ? [] : [effect]);
  });
});
