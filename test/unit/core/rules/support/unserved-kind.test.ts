import { describe, expect, test } from '@jest/globals';
import { judgeUnevaluated } from '../../../../../src/core/admission/judge.ts';
import { schemaTables, isKindName, type SchemaKind } from '../../../../../src/core/schema/index.ts';
import { evaluate, standardPolicy } from '../../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../../support/ownership.ts';

const { bundle } = standardPolicy;
const experimental = { ...standardPolicy, bundle: { ...bundle, channel: 'experimental' } } as const;

function listenerSet(gateway: string): object {
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XListenerSet',
    metadata: { name: 'set', namespace: 'shop' },
    spec: {
      parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: gateway },
      listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }],
    },
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

function ofUnserved(object: object, others: readonly object[] = world): ReturnType<typeof judged> {
  return judged(object, others).filter(([rule]) => rule === 'unserved-kind');
}

describe('unserved-kind', () => {
  test('warns of an object on a Gateway of ours', () => {
    expect(ofUnserved(listenerSet('ours'))).toEqual([['unserved-kind', 'warn', says('XListenerSet')]]);
  });

  test('finds nothing where another controller serves the object', () => {
    expect(ofUnserved(listenerSet('theirs'))).toEqual([]);
  });

  test('records where the controller is not known', () => {
    expect(ofUnserved(listenerSet('ours'), [])).toEqual([['unserved-kind', 'record', says('XListenerSet')]]);
    expect(ofUnserved(listenerSet('unseen'))).toEqual([['unserved-kind', 'record', says('XListenerSet')]]);
  });

  test('records a policy for a Service, which any controller may forward requests to', () => {
    const policy = {
      apiVersion: 'gateway.networking.k8s.io/v1alpha2',
      kind: 'BackendLBPolicy',
      metadata: { name: 'p', namespace: 'shop' },
      spec: { targetRefs: [{ group: '', kind: 'Service', name: 'cart' }] },
    };
    expect(ofUnserved(policy)).toEqual([['unserved-kind', 'record', says('BackendLBPolicy')]]);
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
    expect((Object.keys(schemaTables) as SchemaKind[]).filter((kind) => !isKindName(kind))).toEqual([
      'BackendLBPolicy',
      'XListenerSet',
      'XMesh',
    ]);
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
        'XTelemetryPolicy',
      ].every((kind) => isKindName(kind)),
    ).toBe(true);
  });
});
