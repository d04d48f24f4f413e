import { describe, expect, test } from '@jest/globals';
import { backends } from '../../../../src/core/graph/backends/backends.ts';
import { installationCell, type Installation } from '../../../../src/core/graph/inputs.ts';
import { isObserved, observes } from '../../../../src/core/graph/observed.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { evaluate, installation, serviceWith } from '../../../support/evaluation.ts';

describe('isObserved', () => {
  const partly: Installation = {
    ...installation,
    unobserved: ['Service', 'Secret', 'GatewayClass'],
    observedOnlyIn: { Service: 'shop' },
  };

  test.each([
    ['HTTPRoute', 'billing', true],
    ['Service', 'shop', true],
    ['Service', 'billing', false],
    ['Secret', 'shop', false],
    ['GatewayClass', '', false],
    ['Namespace', '', true],
  ] as const)('%s in namespace "%s": %s', (kind, namespace, expected) => {
    const { kernel } = evaluate([]);
    kernel.apply([write(installationCell, [], partly)]);
    expect(isObserved(kernel.read, kind, namespace)).toBe(expected);
    expect(observes(partly, { kind, namespace })).toBe(expected);
  });
});

describe('references to objects that are not observed', () => {
  const route = (ref: object): unknown => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { rules: [{ backendRefs: [{ name: 'cart', port: 80, ...ref }] }] },
  });
  const outcomeOf = (ref: object, parts: Partial<Installation>): unknown => {
    const { kernel } = evaluate([
      route(ref),
      serviceWith({ ports: [{ port: 80, appProtocol: 'https' }] }),
      serviceWith({ ports: [{ port: 80 }] }, 'bill', 'billing'),
    ]);
    kernel.apply([write(installationCell, [], { ...installation, ...parts })]);
    return kernel.read.query(backends, 'HTTPRoute', 'shop', 'cart')[0]?.backends[0]?.outcome;
  };
  const bill = { name: 'bill', namespace: 'billing' };

  test.each<[string, object, Partial<Installation>, object]>([
    ['everything is observed', bill, {}, { type: 'notPermitted' }],
    [
      'grants are not observed, although Services are',
      bill,
      { unobserved: ['ReferenceGrant'] },
      { type: 'unobserved', kind: 'ReferenceGrant', namespace: 'billing' },
    ],
    [
      'grants are observed in another namespace only',
      bill,
      { unobserved: ['ReferenceGrant'], observedOnlyIn: { ReferenceGrant: 'shop' } },
      { type: 'unobserved', kind: 'ReferenceGrant', namespace: 'billing' },
    ],
    [
      'files that contain the Service contain its grants',
      bill,
      { unobserved: ['ReferenceGrant', 'Service'] },
      { type: 'notPermitted' },
    ],
    ['without its policy', {}, {}, { type: 'policyMissing', protocol: 'https' }],
    [
      'policies are not observed, although Services are',
      {},
      { unobserved: ['BackendTLSPolicy'] },
      { type: 'unobserved', kind: 'BackendTLSPolicy', namespace: 'shop' },
    ],
    [
      'a Service of another namespace than the observed one',
      { name: 'gone' },
      { unobserved: ['Service'], observedOnlyIn: { Service: 'billing' } },
      { type: 'unobserved', kind: 'Service', namespace: 'shop' },
    ],
    [
      'a Service of the observed namespace',
      { name: 'gone' },
      { unobserved: ['Service'], observedOnlyIn: { Service: 'shop' } },
      { type: 'absent' },
    ],
  ])('%s', (_, ref, parts, expected) => {
    expect(outcomeOf(ref, parts)).toEqual(expected);
  });
});
