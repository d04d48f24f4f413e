import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterNames } from '../../src/core/graph/parameters.ts';
import { hasKubectl, renderKustomize, type Rendered } from './render.ts';

interface Webhook {
  readonly name: string;
  readonly rules: readonly { readonly resources: readonly string[]; readonly operations: readonly string[] }[];
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}

let base: Rendered;
let rendered: Rendered;
const whereRendered = (await hasKubectl()) ? describe : describe.skip;

beforeAll(async () => {
  if (whereRendered === describe.skip) return;
  [base, rendered] = await Promise.all([renderKustomize('base'), renderKustomize('base', ['components/impact'])]);
});

function webhooks(): readonly Webhook[] {
  return rendered.get('ValidatingWebhookConfiguration /sallyport-impact')?.['webhooks'] as readonly Webhook[];
}

function conditionsOf(resource: string): readonly string[] {
  return webhooks()
    .filter(({ rules }) => rules.some(({ resources }) => resources.includes(resource)))
    .flatMap(({ matchConditions }) => matchConditions.map(({ expression }) => expression));
}

whereRendered('the component for warnings', () => {
  test('adds a configuration, its permission and an option, and is off by default', () => {
    expect([...rendered.keys()].filter((key) => !base.has(key)).sort()).toEqual([
      'ClusterRole /sallyport-impact',
      'ClusterRoleBinding /sallyport-impact',
      'ValidatingWebhookConfiguration /sallyport-impact',
    ]);
    const changed = [...base].filter(([key, object]) => JSON.stringify(rendered.get(key)) !== JSON.stringify(object));
    expect(changed.map(([key]) => key)).toEqual(['Deployment sallyport-system/sallyport-webhook']);
    const pods = (objects: Rendered) => JSON.stringify(objects.get('Deployment sallyport-system/sallyport-webhook'));
    expect(pods(base)).not.toContain('impact');
    expect(pods(rendered)).toBe(
      pods(base).replace('"--drain=20"', '"--drain=20","--impact-configuration=sallyport-impact"'),
    );
  });

  test('calls the Service of the webhook, never blocks and never waits', () => {
    expect(webhooks().map(({ name }) => name)).toEqual(
      ['services', 'secrets', 'configmaps', 'clustertrustbundles', 'namespaces'].map(
        (resource) => `${resource}.impact.sallyport.dev`,
      ),
    );
    for (const webhook of webhooks()) {
      expect(webhook).toMatchObject({
        clientConfig: {
          service: { namespace: 'sallyport-system', name: 'sallyport-webhook', path: '/impact', port: 443 },
        },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        timeoutSeconds: 1,
        namespaceSelector: { matchExpressions: [{ operator: 'NotIn', values: ['kube-system', 'sallyport-system'] }] },
      });
      expect(webhook).not.toHaveProperty('clientConfig.caBundle');
      expect(webhook.rules.flatMap(({ operations }) => operations)).not.toContain('CREATE');
      expect(webhook.rules.flatMap(({ resources }) => resources).join()).not.toMatch(/[/*]/);
    }
  });

  test('leaves most objects to the conditions, which run in the API server', () => {
    for (const { matchConditions } of webhooks())
      expect(matchConditions.map(({ name }) => name).slice(0, 2)).toEqual(['not-by-kubernetes', 'not-deleted-yet']);
    expect(webhooks().find(({ name }) => name.startsWith('secrets'))).toMatchObject({
      objectSelector: { matchExpressions: [{ key: 'owner', operator: 'NotIn', values: ['helm'] }] },
    });
    expect(conditionsOf('secrets')).toContain("oldObject.type == 'kubernetes.io/tls'");
    expect(conditionsOf('namespaces').join()).toContain('object.metadata.labels != oldObject.metadata.labels');
    // An object is null in a deletion, so a condition that reads it first would skip the call.
    for (const resource of ['services', 'secrets', 'configmaps', 'clustertrustbundles', 'namespaces'])
      expect(
        conditionsOf(resource).filter((one) => /(?<!old)[oO]bject\./.test(one.replaceAll('oldObject', ''))),
      ).toEqual([expect.stringMatching(/^request\.operation == 'DELETE' \|\|/)]);
    for (const { rules } of webhooks())
      expect(rules.flatMap(({ operations }) => operations)).toEqual(['UPDATE', 'DELETE']);
    expect(conditionsOf('services').join()).toContain('object.spec.ports != oldObject.spec.ports');
  });

  test('knows the keys of all ConfigMaps that are read', () => {
    const [list = ''] = conditionsOf('configmaps').flatMap(
      (expression) => /key in \[([^\]]*)\]/.exec(expression)?.[1] ?? [],
    );
    expect(list.split(',').map((key) => key.trim())).toEqual(['ca.crt', ...parameterNames].map((key) => `'${key}'`));
  });
});
