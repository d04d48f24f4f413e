import { describe, expect, test } from '@jest/globals';
import { judgeUnevaluated } from '../../../../../src/core/admission/judge.ts';
import { schemaTables, isKindName, type SchemaKind } from '../../../../../src/core/schema/index.ts';
import { evaluate, standardPolicy } from '../../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../../support/ownership.ts';

const { bundle } = standardPolicy;
const experimental = { ...standardPolicy, bundle: { ...bundle, channel: 'experimental' } } as const;

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
  const { kernel } = evaluate(others);
  const { kind, apiVersion } = object as { readonly kind: SchemaKind; readonly apiVersion: string };
  return judgeUnevaluated(kernel.read, { kind, apiVersion, json: object }, experimental).map(
    ({ rule, effect, message }) => [rule, effect, message],
  );
}

const says = (kind: string) =>
  `Unsupported kind ${kind}: Sallyport does not serve it yet, so the object has no effect. Its schema and rules are still checked.`;

describe('unserved-kind', () => {
  test('warns of a valid object on a Gateway of ours', () => {
    expect(judged(telemetryPolicy('ours'))).toEqual([['unserved-kind', 'warn', says('XTelemetryPolicy')]]);
  });

  test('finds nothing where another controller serves the object', () => {
    expect(judged(telemetryPolicy('theirs'))).toEqual([]);
  });

  test('records where the controller is not known', () => {
    expect(judged(telemetryPolicy('ours'), [])).toEqual([['unserved-kind', 'record', says('XTelemetryPolicy')]]);
    expect(judged(telemetryPolicy('theirs', 'unseen'))).toEqual([
      ['unserved-kind', 'record', says('XTelemetryPolicy')],
    ]);
  });

  test('names the parents that it applies to', () => {
    expect(judged(telemetryPolicy('theirs', 'ours'))).toEqual([
      [
        'unserved-kind',
        'warn',
        `${says('XTelemetryPolicy')} This applies to Gateway "shop/ours", not to the parents of other controllers.`,
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
        .filter(([rule]) => rule === 'unserved-kind')
        .map(([, found]) => found),
    ).toEqual(effect === undefined ? [] : [effect]);
  });

  test('judges a mesh by its controllerName', () => {
    const mesh = (controllerName: string) => ({
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XMesh',
      metadata: { name: 'm' },
      spec: { controllerName },
    });
    expect(judged(mesh('sallyport.dev/gateway-controller')).map(([rule, effect]) => [rule, effect])).toEqual([
      ['unserved-kind', 'warn'],
    ]);
    expect(judged(mesh('example.com/mesh'))).toEqual([]);
  });

  test('is about exactly the kinds that take no part in evaluation', () => {
    expect((Object.keys(schemaTables) as SchemaKind[]).filter((kind) => !isKindName(kind))).toContain(
      'XTelemetryPolicy',
    );
    expect(
      [
        'HTTPRoute',
        'GRPCRoute',
        'TLSRoute',
        'TCPRoute',
        'UDPRoute',
        'Gateway',
        'ListenerSet',
        'BackendTLSPolicy',
        'XBackendTrafficPolicy',
      ].every((kind) => isKindName(kind)),
    ).toBe(true);
  });
});
