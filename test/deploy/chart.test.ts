import { describe, expect, test } from '@jest/globals';
import { findHelm, hasKubectl, renderChart, renderKustomize } from './render.ts';

const helm = ((await hasKubectl()) ? await findHelm() : undefined) ?? '';

(helm === '' ? describe.skip : describe)('the chart renders what kustomize renders', () => {
  test.each([
    ['base', [], []],
    ['overlays/audit', [], ['settings.profile=audit']],
    ['overlays/enforce', [], ['settings.failurePolicy=Fail']],
    ['overlays/enforce', ['components/network-policy'], ['settings.failurePolicy=Fail', 'networkPolicy.enabled=true']],
    ['base', ['components/prometheus'], ['prometheus.enabled=true']],
    ['base', ['components/hostname-policy'], ['hostnamePolicy.enabled=true']],
    ['base', ['components/audit-reports'], ['webhook.auditReports=true']],
    ['base', ['dashboards'], ['dashboard.enabled=true']],
    ['base', ['components/impact'], ['impact.enabled=true']],
    ['overlays/full', [], ['settings.failurePolicy=Fail', 'controller.enabled=true']],
  ])('%s with %j', async (overlay, components, values) => {
    const [expected, rendered] = await Promise.all([renderKustomize(overlay, components), renderChart(helm, values)]);
    expect([...rendered.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [key, object] of expected) expect(rendered.get(key)).toEqual(object);
  });

  test('with cert-manager, pods, permissions and configuration are the same', async () => {
    const annotation = 'certificate.annotations.cert-manager\\.io/inject-ca-from=sallyport-system/sallyport-webhook';
    const [expected, rendered] = await Promise.all([
      renderKustomize('base', ['components/cert-manager']),
      renderChart(helm, ['certificate.secretName=sallyport-webhook-tls', annotation]),
    ]);
    for (const key of [
      'Deployment sallyport-system/sallyport-webhook',
      'Role sallyport-system/sallyport-webhook',
      'ValidatingWebhookConfiguration /sallyport-webhook',
    ]) {
      expect(rendered.get(key)).toEqual(expected.get(key));
    }
  });

  test('the host network brings its ports and labels along', async () => {
    const rendered = await renderChart(helm, ['webhook.hostNetwork=true', 'webhook.port=9443']);
    expect(rendered.get('Namespace /sallyport-system')?.metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'privileged',
    });
    expect(JSON.stringify(rendered.get('Deployment sallyport-system/sallyport-webhook'))).toContain('"--port=9443"');
  });

  test('more options go to the webhook', async () => {
    const rendered = await renderChart(helm, ['webhook.extraArgs={--certificate-lifetime=24h,--clock-skew=1m}']);
    expect(JSON.stringify(rendered.get('Deployment sallyport-system/sallyport-webhook'))).toContain(
      '"--drain=20","--certificate-lifetime=24h","--clock-skew=1m"]',
    );
  });

  test('data planes may be kept out of other namespaces', async () => {
    const rendered = await renderChart(helm, ['controller.enabled=true', 'controller.gatewayNamespaces={shop,infra}']);
    const keys = [...rendered.keys()].filter((key) => key.includes('sallyport-data-planes')).sort();
    expect(keys).toEqual([
      'ClusterRole /sallyport-data-planes',
      'RoleBinding infra/sallyport-data-planes',
      'RoleBinding shop/sallyport-data-planes',
    ]);
    expect(rendered.get('RoleBinding shop/sallyport-data-planes')).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: 'sallyport-data-planes' },
      subjects: [{ kind: 'ServiceAccount', name: 'sallyport-controller', namespace: 'sallyport-system' }],
    });
  });

  test('a pool of addresses brings its options and the permission for it, where data planes may be made', async () => {
    const [expected, everywhere, somewhere, none] = await Promise.all([
      renderKustomize('overlays/full', ['components/address-pool']),
      ...[
        ['controller.addressPool={192.0.2.0/28,fd00::1-fd00::9}'],
        ['controller.addressPool={192.0.2.0/28}', 'controller.gatewayNamespaces={shop}'],
        [],
      ].map((values) => renderChart(helm, ['controller.enabled=true', ...values])),
    ]);
    const keysOf = (rendered: typeof expected | undefined) =>
      [...(rendered?.keys() ?? [])].filter((key) => key.includes('address-pool')).sort();
    expect(keysOf(expected)).toEqual([
      'ClusterRole /sallyport-address-pool',
      'ClusterRoleBinding /sallyport-address-pool',
    ]);
    expect(keysOf(everywhere)).toEqual(keysOf(expected));
    for (const key of keysOf(expected)) expect(everywhere?.get(key)).toEqual(expected.get(key));
    expect(JSON.stringify(everywhere?.get('Deployment sallyport-system/sallyport-controller'))).toContain(
      '"--address-pool=192.0.2.0/28","--address-pool=fd00::1-fd00::9"]',
    );
    expect(keysOf(somewhere)).toEqual([
      'ClusterRole /sallyport-address-pool',
      'RoleBinding shop/sallyport-address-pool',
    ]);
    expect(keysOf(none)).toEqual([]);
    expect(JSON.stringify(none?.get('Deployment sallyport-system/sallyport-controller'))).not.toContain('address-pool');
  });

  test('namespaces that are not validated get no warnings either', async () => {
    const rendered = await renderChart(helm, ['impact.enabled=true', 'webhook.exemptNamespaces={kube-system,legacy}']);
    for (const name of ['sallyport-webhook', 'sallyport-impact']) {
      const { webhooks } = rendered.get(`ValidatingWebhookConfiguration /${name}`) as unknown as {
        readonly webhooks: readonly { readonly namespaceSelector: { readonly matchExpressions: readonly object[] } }[];
      };
      for (const { namespaceSelector } of webhooks)
        expect(namespaceSelector.matchExpressions).toMatchObject([
          { operator: 'NotIn', values: ['kube-system', 'legacy', 'sallyport-system'] },
        ]);
    }
  });

  test('a GatewayClass of another name, or none', async () => {
    const [named, none] = await Promise.all(
      ['internal', ''].map((name) => renderChart(helm, ['controller.enabled=true', `controller.gatewayClass=${name}`])),
    );
    const classes = (rendered: typeof named) =>
      [...(rendered?.keys() ?? [])].filter((key) => key.startsWith('GatewayClass'));
    expect(classes(named)).toEqual(['GatewayClass /internal']);
    expect(classes(none)).toEqual([]);
  });

  test('the API server may be called on ports of its own', async () => {
    const rendered = await renderChart(helm, ['networkPolicy.enabled=true', 'networkPolicy.apiServerPorts={443,9345}']);
    for (const name of ['webhook', 'watchdog']) {
      expect(rendered.get(`NetworkPolicy sallyport-system/sallyport-${name}`)?.['spec']).toMatchObject({
        egress: [{ ports: [{ port: 443 }, { port: 9345 }] }],
      });
    }
  });

  test('another namespace is used throughout', async () => {
    const rendered = await renderChart(helm, [
      'namespace.name=gates',
      'namespace.create=false',
      'networkPolicy.enabled=true',
      'prometheus.enabled=true',
      'dashboard.enabled=true',
      'controller.enabled=true',
      'impact.enabled=true',
    ]);
    expect(JSON.stringify([...rendered.values()])).not.toContain('sallyport-system"');
    expect([...rendered.keys()].filter((key) => key.startsWith('Namespace'))).toEqual([]);
  });
});
