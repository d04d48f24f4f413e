import { describe, expect, test } from '@jest/globals';
import { judgeUnevaluated } from '../../../../../src/core/admission/judge.ts';
import type { AdmissionPolicy } from '../../../../../src/core/admission/policy.ts';
import { schemaTables, isKindName, type Minor, type SchemaKind } from '../../../../../src/core/schema/index.ts';
import { evaluate, standardPolicy } from '../../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../../support/ownership.ts';

const { bundle } = standardPolicy;
const experimental = { ...standardPolicy, bundle: { ...bundle, channel: 'experimental' } } as const;
/** The last minor release with a kind. */
const lastMinors: Partial<Record<SchemaKind, Minor>> = { BackendLBPolicy: '1.2', XListenerSet: '1.4' };

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
  return judgeUnevaluated(kernel.read, { kind, apiVersion, json: object }, policyFor(kind)).map(
    ({ rule, effect, message }) => [rule, effect, message],
  );
}

function policyFor(kind: SchemaKind): AdmissionPolicy {
  const minor = lastMinors[kind] ?? experimental.bundle.minor;
  return { ...experimental, bundle: { ...experimental.bundle, minor } };
}

const says = (kind: string) =>
  `Unsupported kind ${kind}: Sallyport does not serve it yet, so the object has no effect. Its schema and rules are still checked.`;

describe('unserved-kind', () => {
  test('warns of an object on a Gateway of ours', () => {
    expect(judged(listenerSet('ours'))).toEqual([['unserved-kind', 'warn', says('XListenerSet')]]);
  });

  test.each(['theirs', 'unseen'])('leaves an object on the Gateway %s to the rule about newer bundles', (gateway) => {
    expect(judged(listenerSet(gateway)).map(([rule]) => rule)).toEqual(['refused-later']);
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
