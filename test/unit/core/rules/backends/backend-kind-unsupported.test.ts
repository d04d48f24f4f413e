import { describe, expect, test } from '@jest/globals';
import { evaluate, validate, type Finding } from '../../../../../src/library/index.ts';
import { installationCell } from '../../../../../src/core/graph/inputs.ts';
import { write } from '../../../../../src/core/incremental/index.ts';
import { linkFindings } from '../../../../../src/core/rules/engine/link-findings.ts';
import { evaluate as evaluateAll, found, installation, serviceWith } from '../../../../support/evaluation.ts';
import { routeWith } from '../../../../support/rules.ts';

const asked = (backendRef: object, ...others: readonly unknown[]) =>
  found('backend-kind-unsupported', [
    routeWith({ backendRefs: [{ name: 'cart', port: 8080, ...backendRef }] }),
    ...others,
  ]);

describe('backend-kind-unsupported', () => {
  test.each<[object, string]>([
    [
      { group: 'example.net', kind: 'Bucket' },
      'Unsupported backend kind example.net/Bucket: its share of requests is answered with 500. Use kind: Service and an empty group.',
    ],
    [
      { group: 'multicluster.x-k8s.io', kind: 'Service' },
      'Unsupported backend kind multicluster.x-k8s.io/Service: its share of requests is answered with 500. Use kind: Service and an empty group.',
    ],
    [
      { kind: 'ServiceImport' },
      'Unsupported backend kind ServiceImport: its share of requests is answered with 500. Did you mean group: multicluster.x-k8s.io?',
    ],
    [
      { kind: 'service' },
      'Unsupported backend kind service: its share of requests is answered with 500. Did you mean Service?',
    ],
  ])('%j', (backendRef, message) => {
    expect(asked(backendRef)).toEqual([
      ['spec.rules[0].backendRefs[0]', message, 'ResolvedRefs InvalidKind backendRef'],
    ]);
  });

  test('ExternalName', () => {
    expect(
      asked({}, serviceWith({ type: 'ExternalName', externalName: 'example.org', ports: [{ port: 8080 }] })),
    ).toEqual([
      [
        'spec.rules[0].backendRefs[0]',
        'Service "shop/cart" has the unsupported type ExternalName: it could point anywhere (CVE-2021-25740). Use a Service with endpoints.',
        'ResolvedRefs InvalidKind backendRef',
      ],
    ]);
  });

  test('a ServiceImport in a cluster without its CustomResourceDefinition', () => {
    const imported = { group: 'multicluster.x-k8s.io', kind: 'ServiceImport' };
    const world = evaluateAll([routeWith({ backendRefs: [{ name: 'cart', port: 8080, ...imported }] })]);
    const told = () =>
      world.kernel.read
        .query(linkFindings, 'HTTPRoute', 'shop', 'cart')
        .filter(({ rule }) => rule.startsWith('backend-'))
        .map(({ rule, message }) => [rule, message]);
    world.kernel.apply([write(installationCell, [], { ...installation, notInstalled: ['ServiceImport'] })]);
    expect(told()).toEqual([
      [
        'backend-kind-unsupported',
        'Unsupported backend kind multicluster.x-k8s.io/ServiceImport: its CustomResourceDefinition is not installed in this cluster, so its share of requests is answered with 500. Install the Multi-Cluster Services API, or use kind: Service.',
      ],
    ]);
    // Nothing is said where ServiceImports may exist unseen.
    world.kernel.apply([write(installationCell, [], { ...installation, unobserved: ['ServiceImport'] })]);
    expect(told()).toEqual([]);
    world.kernel.apply([write(installationCell, [], installation)]);
    expect(told()).toMatchObject([
      ['backend-not-found', expect.stringContaining('ServiceImport "shop/cart" not found')],
    ]);
  });

  test.each(['ClusterIP', 'NodePort', 'LoadBalancer', undefined])('a Service of type %s is fine', (type) => {
    expect(asked({}, serviceWith({ ...(type === undefined ? {} : { type }), ports: [{ port: 8080 }] }))).toEqual([]);
  });

  test('a misspelt kind is found in a route alone too, and told once where more is known', () => {
    const misspelt = { name: 'cart', port: 8080, kind: 'service' };
    const route = routeWith({
      backendRefs: [misspelt],
      filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { ...misspelt, name: 'other' } } }],
    });
    const told = (findings: readonly Finding[]) =>
      findings.filter(({ rule }) => rule === 'backend-kind-unsupported').map(({ field }) => field);
    expect(told(validate(route))).toEqual([
      'spec.rules[0].backendRefs[0].kind',
      'spec.rules[0].filters[0].requestMirror.backendRef.kind',
    ]);
    expect(evaluate([route]).flatMap(({ findings }) => told(findings))).toEqual([
      'spec.rules[0].backendRefs[0]',
      'spec.rules[0].filters[0].requestMirror.backendRef',
    ]);
  });
});
