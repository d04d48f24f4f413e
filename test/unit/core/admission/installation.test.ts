import { describe, expect, test } from '@jest/globals';
import { amongOthers } from '../../../../src/core/admission/installation.ts';
import { attachments } from '../../../../src/core/graph/attachment.ts';
import { installationCell } from '../../../../src/core/graph/inputs.ts';
import { listenerSetParent } from '../../../../src/core/graph/listeners/listener-sets.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { formatPath } from '../../../../src/core/resources/path.ts';
import { evaluate, installation, listenerSet, ourClass, serviceWith } from '../../../support/evaluation.ts';

const group = 'gateway.networking.k8s.io';

function object(kind: string, name: string, spec: object): unknown {
  return { apiVersion: `${group}/v1`, kind, metadata: { name, namespace: 'shop' }, spec };
}

function gateway(spec: object): unknown {
  return object('Gateway', 'front', { gatewayClassName: 'sallyport', ...spec });
}

function secure(...certificateRefs: readonly object[]): object {
  return { listeners: [{ name: 'secure', port: 443, protocol: 'HTTPS', tls: { certificateRefs } }] };
}

function route(spec: object): unknown {
  return object('HTTPRoute', 'cart', { parentRefs: [{ name: 'front' }], ...spec });
}

function forwarding(...backendRefs: readonly object[]): object {
  return { rules: [{ backendRefs }] };
}

const plain = gateway({ listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] });
const selected = (own: object): unknown =>
  gateway({
    listeners: [
      {
        name: 'web',
        port: 80,
        protocol: 'HTTP',
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'shop' } } } },
      },
    ],
    ...own,
  });
const authority = { group: '', kind: 'ConfigMap', name: 'gone' };
const policy = object('BackendTLSPolicy', 'cart', {
  targetRefs: [{ group: '', kind: 'Service', name: 'gone' }],
  validation: { hostname: 'cart.example.com', caCertificateRefs: [authority] },
});
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'other' } } };

type Told = readonly (readonly [rule: string, path: string])[];

/** What is said of all objects, first where they are all there is, then where there may be others. */
function toldOf(objects: readonly unknown[]): { readonly alone: Told; readonly amongOthers: Told } {
  const world = evaluate([ourClass, ...objects]);
  const told = (): Told =>
    world.candidates.flatMap((candidate) =>
      world.judge(candidate).map(({ rule, path }) => [rule, formatPath(path)] as const),
    );
  const alone = told();
  world.kernel.apply([write(installationCell, [], amongOthers(installation))]);
  return { alone, amongOthers: told() };
}

describe('where more objects may exist than can be seen', () => {
  test.each([
    ['a backend', [plain, route(forwarding({ name: 'gone', port: 80 }))], ['backend-not-found']],
    [
      'a backend of another namespace',
      [plain, route(forwarding({ name: 'gone', namespace: 'other', port: 80 }))],
      ['backend-not-permitted'],
    ],
    [
      'a Gateway',
      [route(forwarding({ name: 'cart', port: 80 })), serviceWith({ ports: [{ port: 80 }] })],
      ['parent-not-found'],
    ],
    [
      'a ListenerSet',
      [
        object('HTTPRoute', 'cart', {
          parentRefs: [{ kind: 'ListenerSet', name: 'gone' }],
          ...forwarding({ name: 'cart', port: 80 }),
        }),
        serviceWith({ ports: [{ port: 80 }] }),
      ],
      ['parent-not-found'],
    ],
    [
      'the Gateway of a ListenerSet',
      [listenerSet({ parentRef: { name: 'gone' }, listeners: [{ name: 'more', port: 8080, protocol: 'HTTP' }] })],
      ['listener-set-parent-not-found'],
    ],
    ['a certificate', [gateway(secure({ name: 'gone' }))], ['listener-certificate-invalid']],
    [
      'a certificate of another namespace',
      [gateway(secure({ name: 'gone', namespace: 'other' }))],
      ['listener-certificate-invalid'],
    ],
    [
      'authorities',
      [policy],
      ['backend-policy-target-missing', 'backend-authority-invalid', 'backend-authority-missing'],
    ],
    [
      'parameters',
      [
        gateway({
          listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }],
          infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'gone' } },
        }),
      ],
      ['gateway-parameters'],
    ],
    [
      'the labels of a namespace',
      [selected({}), route(forwarding({ name: 'cart', port: 80 })), serviceWith({ ports: [{ port: 80 }] })],
      ['not-allowed-by-listeners'],
    ],
  ])('the absence of %s says nothing', (_, objects, rules) => {
    const { alone, amongOthers: open } = toldOf(objects);
    expect(alone.map(([rule]) => rule)).toEqual(rules);
    expect(open).toEqual([]);
  });

  test.each([
    [
      'a Service has no such port',
      [plain, route(forwarding({ name: 'cart', port: 81 })), serviceWith({ ports: [{ port: 80 }] })],
      'backend-not-found',
    ],
    [
      'nothing permits the use of a Service',
      [
        plain,
        route(forwarding({ name: 'cart', namespace: 'other', port: 80 })),
        serviceWith({ ports: [{ port: 80 }] }, 'cart', 'other'),
      ],
      'backend-not-permitted',
    ],
    [
      'a namespace has other labels',
      [namespace, selected({}), route(forwarding({ name: 'cart', port: 80 })), serviceWith({ ports: [{ port: 80 }] })],
      'not-allowed-by-listeners',
    ],
    [
      'a Gateway has no such listener',
      [
        plain,
        route({ parentRefs: [{ name: 'front', sectionName: 'gone' }], ...forwarding({ name: 'cart', port: 80 }) }),
        serviceWith({ ports: [{ port: 80 }] }),
      ],
      'no-matching-parent',
    ],
  ])('is still told that %s', (_, objects, rule) => {
    const { alone, amongOthers: open } = toldOf(objects);
    expect(alone.map(([found]) => found)).toEqual([rule]);
    expect(open).toEqual(alone);
  });

  test('nothing is let in for labels that are not known', () => {
    const closed = gateway({
      listeners: [
        {
          name: 'web',
          port: 80,
          protocol: 'HTTP',
          allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'shop' } } } },
        },
      ],
      allowedListeners: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'shop' } } } },
    });
    const { kernel } = evaluate([
      ourClass,
      closed,
      route(forwarding({ name: 'cart', port: 80 })),
      listenerSet({ parentRef: { name: 'front' }, listeners: [{ name: 'more', port: 8080, protocol: 'HTTP' }] }),
    ]);
    kernel.apply([write(installationCell, [], amongOthers(installation))]);
    expect(kernel.read.query(attachments, 'HTTPRoute', 'shop', 'cart')).toMatchObject([
      { outcome: { type: 'unobserved' } },
    ]);
    expect(kernel.read.query(listenerSetParent, 'shop', 'extra')).toMatchObject({ type: 'foreign' });
  });
});
