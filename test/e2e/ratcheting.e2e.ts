import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectl, kubectlOutput, type Outcome } from './support/kubectl.ts';
import { backend, httpRoute, service } from './support/routes.ts';
import { installSallyport, metricSum, uninstallSallyport } from './support/sallyport.ts';

// Objects that were stored before anybody judged them must stay manageable.
const namespace = useNamespace('ratcheting');
const bad = {
  filters: [
    {
      type: 'RequestHeaderModifier',
      requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] },
    },
  ],
  backendRefs: [backend],
};
const worse = {
  filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x shop'] } }],
  backendRefs: [backend],
};
const good = {
  filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-shop'] } }],
  backendRefs: [backend],
};

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await apply(
    service(namespace),
    httpRoute({ name: 'stored', namespace }, { rules: [bad] }),
    httpRoute({ name: 'leaving', namespace, finalizers: ['test.sallyport.dev/one'] }, { rules: [bad] }),
  );
  await installSallyport('enforce');
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
});

async function patched(name: string, patch: object, ...flags: readonly string[]): Promise<Outcome> {
  return kubectl(['patch', 'httproute', name, '-n', namespace, '--type=merge', '-p', JSON.stringify(patch), ...flags]);
}

const done = { code: 0, stderr: '' };

test('the same object, new, is denied: the test means something', async () => {
  expect(
    await kubectl(['create', '-f', '-'], {
      stdin: JSON.stringify(httpRoute({ name: 'fresh', namespace }, { rules: [bad] })),
    }),
  ).toMatchObject({ code: 1 });
});

describe('an object stored before the webhook came', () => {
  test('can be labelled and annotated', async () => {
    expect(await kubectl(['label', 'httproute', 'stored', '-n', namespace, 'team=shop'])).toMatchObject(done);
    expect(await kubectl(['annotate', 'httproute', 'stored', '-n', namespace, 'note=old'])).toMatchObject(done);
  });

  test('can get a finalizer and lose it', async () => {
    expect(await patched('stored', { metadata: { finalizers: ['test.sallyport.dev/one'] } })).toMatchObject(done);
    expect(await patched('stored', { metadata: { finalizers: null } })).toMatchObject(done);
  });

  test('can have its status written', async () => {
    expect(await patched('stored', { status: { parents: [] } }, '--subresource=status')).toMatchObject(done);
  });

  test('can change elsewhere; the old mistake is told and tolerated', async () => {
    const before = await metricSum(
      'sallyport_admission_rule_findings_total{rule="header-acted-on-twice",mode="tolerate"}',
    );
    const { code, stderr } = await patched('stored', { spec: { hostnames: ['shop.example'] } });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Warning: \[header-acted-on-twice\] spec\.rules\[0\]\.filters\[0\]\.requestHeaderModifier\.remove\[0\]: /,
    );
    expect(
      await metricSum('sallyport_admission_rule_findings_total{rule="header-acted-on-twice",mode="tolerate"}'),
    ).toBe(before + 1);
  });

  test('can get a good rule before the bad one', async () => {
    expect(await patched('stored', { spec: { rules: [good, bad] } })).toMatchObject({ code: 0 });
  });

  test('can be written by a client of v1beta1', async () => {
    const route = await getObject<Record<string, unknown> & { metadata: object }>([
      'httproutes.v1beta1.gateway.networking.k8s.io',
      'stored',
      '-n',
      namespace,
    ]);
    const stdin = JSON.stringify({ ...route, metadata: { ...route.metadata, labels: { team: 'other' } } });
    expect(await kubectl(['replace', '-f', '-'], { stdin })).toMatchObject(done);
  });

  test.each([
    ['another mistake', [good, bad, worse]],
    ['the same mistake once more', [good, bad, bad]],
  ])('cannot get %s', async (_, rules) => {
    const { code, stderr } = await patched('stored', { spec: { rules } });
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The HTTPRoute "stored" is invalid: spec.rules[2].filters[0].requestHeaderModifier.remove[0]: ',
    );
  });

  test('that lost its mistake cannot get it back', async () => {
    expect(await patched('stored', { spec: { rules: [good] } })).toMatchObject(done);
    expect(await patched('stored', { spec: { rules: [bad] } })).toMatchObject({ code: 1 });
  });
});

test('an object with a mistake and a finalizer can be deleted', async () => {
  expect(await patched('leaving', { metadata: { labels: { team: 'shop' } } })).toMatchObject(done);
  await kubectlOutput(['delete', 'httproute', 'leaving', '-n', namespace, '--wait=false']);
  expect(await patched('leaving', { metadata: { finalizers: null } })).toMatchObject(done);
  expect(await kubectl(['get', 'httproute', 'leaving', '-n', namespace])).toMatchObject({ code: 1 });
});
