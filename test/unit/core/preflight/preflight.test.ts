import { describe, expect, test } from '@jest/globals';
import { lostAccepted, readRouteStates, routeStates } from '../../../../src/core/preflight/accepted.ts';
import { judgeClients } from '../../../../src/core/preflight/clients.ts';
import { judgeKinds } from '../../../../src/core/preflight/kinds.ts';
import { judgeChange } from '../../../../src/core/preflight/preflight.ts';
import { channels, minors } from '../../../../src/core/schema/index.ts';
import { definition, facts, object, short, to } from './subjects.ts';

const entry = (manager: string, version: string, subresource?: string) => ({
  manager,
  operation: 'Apply',
  apiVersion: `gateway.networking.k8s.io/${version}`,
  ...(subresource === undefined ? {} : { subresource }),
});

describe('judgeClients', () => {
  test('by manager, version and subresource', () => {
    const managedFields = [
      entry('helm', 'v1alpha2'),
      entry('envoy-gateway', 'v1alpha2', 'status'),
      entry('kubectl', 'v1'),
      'odd',
      { manager: 3 },
    ];
    const routes = ['one', 'two'].map((name) =>
      object('TCPRoute', 'v1', {
        metadata: {
          name,
          managedFields,
          annotations: { 'meta.helm.sh/release-name': 'shop', 'meta.helm.sh/release-namespace': 'apps' },
        },
      }),
    );
    const findings = judgeClients(routes, to('1.7'));
    expect(findings.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
      'warning The client "helm" wrote 2 TCPRoutes as gateway.networking.k8s.io/v1alpha2 (TCPRoute shop/one, TCPRoute shop/two). v1.7.0 standard does not serve that version: its next write fails. Use gateway.networking.k8s.io/v1.',
      'warning The client "envoy-gateway" wrote the status of 2 TCPRoutes as gateway.networking.k8s.io/v1alpha2 (TCPRoute shop/one, TCPRoute shop/two). v1.7.0 standard does not serve that version: its next write fails. Use gateway.networking.k8s.io/v1.',
    ]);
    expect(findings[0]?.commands).toEqual(['helm get manifest shop -n apps']);
    expect(judgeClients(routes, to('1.7', 'experimental')).map(({ severity }) => severity)).toEqual(['note', 'note']);
  });

  test.each([
    [
      { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:gateway.networking.k8s.io/TCPRoute:shop/app' } },
      ['argocd app manifests shop'],
    ],
    [{ labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }, ['flux tree kustomization apps -n flux-system']],
    [{}, ['kubectl get tcproutes.gateway.networking.k8s.io app -n shop -o yaml --show-managed-fields']],
  ])('the application of %j', (metadata, commands) => {
    expect(
      judgeClients(
        [object('TCPRoute', 'v1', { metadata: { ...metadata, managedFields: [entry('x', 'v1alpha2')] } })],
        to('1.7'),
      )[0]?.commands,
    ).toEqual(commands);
  });
});

describe('judgeKinds', () => {
  test('objects without a CRD in the target, with what takes their place', () => {
    const [finding] = judgeKinds(
      [object('XListenerSet', 'gateway.networking.x-k8s.io/v1alpha1', {}), object('HTTPRoute', 'v1', {})],
      to('1.7'),
    );
    expect(finding).toMatchObject({
      severity: 'warning',
      subject: 'xlistenersets.gateway.networking.x-k8s.io',
      message: expect.stringMatching(
        /1 object remains \(shop\/app\).* Use ListenerSet of gateway\.networking\.k8s\.io\/v1\.$/,
      ),
    });
    expect(short(judgeKinds([object('BackendLBPolicy', 'v1alpha2', {})], to('1.3', 'experimental')))).toEqual([
      'warning removed-kinds backendlbpolicies.gateway.networking.k8s.io',
    ]);
    expect(judgeKinds([object('TCPRoute', 'v1alpha2', {})], to('1.5'))).toHaveLength(1);
  });
});

describe('lostAccepted', () => {
  const withStatus = (status: string, name = 'app') =>
    object('HTTPRoute', 'v1', {
      metadata: { name },
      status: {
        parents: [
          {
            parentRef: { name: 'web', sectionName: 'http', port: 80 },
            controllerName: 'example.com/c',
            conditions: [{ type: 'Accepted', status, reason: 'Because' }],
          },
        ],
      },
    });
  const before = routeStates([withStatus('True'), withStatus('False', 'other')]);

  test('routes that were accepted', () => {
    expect(before[0]).toEqual({
      route: 'HTTPRoute shop/app',
      parent: 'shop/web/http:80',
      controller: 'example.com/c',
      accepted: 'True',
      reason: 'Because',
    });
    expect(lostAccepted(before, routeStates([withStatus('True')]))).toEqual([]);
    expect(lostAccepted(before, routeStates([withStatus('False')])).map(({ message }) => message)).toEqual([
      'Parent shop/web/http:80 of example.com/c: Accepted was True, and is False now (Because).',
    ]);
    expect(lostAccepted(before, []).map(({ message }) => message)).toEqual([
      'Parent shop/web/http:80 of example.com/c: Accepted was True, and the route is not found or has no status now.',
    ]);
    expect(lostAccepted(before, [])[0]?.commands).toEqual([
      'kubectl describe httproutes.gateway.networking.k8s.io app -n shop',
    ]);
  });

  test('a report is not trusted', () => {
    expect(readRouteStates({ routes: before })).toEqual(before);
    expect(readRouteStates({ routes: [{ ...before[0], route: 'HTTPRoute shop/a; reboot' }] })).toBeUndefined();
    expect(readRouteStates(undefined)).toBeUndefined();
    expect(readRouteStates({ routes: 'none' })).toBeUndefined();
  });
});

describe('judgeChange', () => {
  const backendRefs = [{ name: 'app', port: 80 }];
  const plain = object('HTTPRoute', 'v1', { spec: { rules: [{ backendRefs }] } });
  const steps = minors.flatMap((minor, index) =>
    channels.flatMap((channel) => {
      const next = minors[index + 1];
      return [
        ...(next === undefined
          ? []
          : ([
              [minor, channel, next, channel],
              [next, channel, minor, channel],
            ] as const)),
        [minor, channel, minor, channel === 'standard' ? 'experimental' : 'standard'],
      ] as const;
    }),
  );

  test.each(steps)('v%s %s to v%s %s: a plain route is no matter', (fromMinor, fromChannel, toMinor, toChannel) => {
    const bundle = { minor: fromMinor, channel: fromChannel };
    const definitions = (['GatewayClass', 'Gateway', 'HTTPRoute'] as const).map((kind) =>
      definition(kind, [fromMinor === '1.0' ? 'v1beta1' : 'v1'], bundle),
    );
    expect(judgeChange([plain], facts({ definitions }), to(toMinor, toChannel))).toEqual([]);
  });

  test('nothing throws on objects that nobody could store', () => {
    const odd = [null, 3, 'text', [], { spec: null }].map((body) =>
      object('HTTPRoute', 'v1', { spec: body, status: body, metadata: { managedFields: body, labels: body } }),
    );
    const broken = [...odd, ...[null, 3, {}].map((spec) => object('GatewayClass', 'v1', { spec }))];
    expect(() =>
      judgeChange(
        broken,
        facts({
          definitions: [definition('HTTPRoute', [], { minor: '1.0', channel: 'standard' }, { kind: undefined })],
        }),
        to('1.7'),
      ),
    ).not.toThrow();
  });
});
