import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  auditEvents,
  clusterState,
  installCrds,
  removeCrds,
  useNamespace,
  type AuditEvent,
} from './support/cluster.ts';
import { apply, kubectl, kubectlOutput, type Outcome } from './support/kubectl.ts';
import { backend, httpRoute, service } from './support/routes.ts';
import {
  failurePolicy,
  installSallyport,
  kubeletPatience,
  metricsOf,
  metricSum,
  replaceSettings,
  systemNamespace,
  uninstallSallyport,
  waitForFailurePolicy,
  waitUntilReady,
  webhookLogs,
  webhookPods,
  webhookSelector,
  type WebhookPod,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// The audit profile, and what happens when settings change under a running webhook, for better or worse.
const namespace = useNamespace('settings');
/** Settings name one of these, and choose the other by its label. */
const lenient = useNamespace('settings-lenient');
const watched = useNamespace('settings-watched');
const exemptUser = 'settings-break-glass';
const bad = {
  filters: [
    {
      type: 'RequestHeaderModifier',
      requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] },
    },
  ],
  backendRefs: [backend],
};
const rule = 'header-acted-on-twice';
const annotations = 'validate.gateway.sallyport.dev';
/** In the standard channel from v1.5 on. */
const cors = {
  filters: [{ type: 'CORS', cors: { allowOrigins: ['https://shop.example.com'] } }],
  backendRefs: [backend],
};
const perNamespace = {
  profile: 'standard',
  failurePolicy: 'Fail',
  namespaces: [
    { names: [lenient], effects: { [rule]: 'warn' } },
    { selector: { matchExpressions: [{ key: 'stage', operator: 'In', values: ['preview'] }] }, profile: 'audit' },
  ],
  exemptions: { usernames: [exemptUser] },
  bundleOverrides: [{ kinds: ['HTTPRoute'], bundle: 'v1.4', channel: 'standard' }],
};
let pods: readonly WebhookPod[];

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await apply(...[namespace, lenient, watched].map((place) => service(place)));
  await kubectlOutput(['label', 'namespace', watched, 'stage=preview']);
  await installSallyport('audit');
  pods = await webhookPods();
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
});

async function create(name: string, rules: readonly object[], ...flags: readonly string[]): Promise<Outcome> {
  return createFrom(httpRoute({ name, namespace }, { rules }), ...flags);
}

async function createFrom(route: object, ...flags: readonly string[]): Promise<Outcome> {
  return kubectl(['create', '-f', '-', ...flags], { stdin: JSON.stringify(route) });
}

async function creationOf(place: string, name: string): Promise<AuditEvent> {
  return waitFor(`the event of ${name}`, async () =>
    (await auditEvents())?.find(
      ({ verb, objectRef }) =>
        verb === 'create' &&
        objectRef?.resource === 'httproutes' &&
        objectRef.namespace === place &&
        objectRef.name === name,
    ),
  );
}

/** The audit log of a cluster of somebody else cannot be read. */
const whereAudited = clusterState === undefined ? describe.skip : describe;

/** Waits until each pod has the wished value of the gauge. */
async function settingsReload(state: 'failed' | 'fine'): Promise<void> {
  await waitFor(
    `the settings are ${state}`,
    async () => {
      const gauges = await Promise.all(
        (await webhookPods()).map(async (pod) => (await metricsOf(pod)).get('sallyport_settings_reload_failed')),
      );
      return gauges.every((value) => value === (state === 'failed' ? 1 : 0)) ? true : undefined;
    },
    kubeletPatience,
  );
}

describe('the audit profile', () => {
  test('denies nothing and says nothing to who writes', async () => {
    expect(await create('audited', [bad])).toEqual({
      code: 0,
      stdout: 'httproute.gateway.networking.k8s.io/audited created\n',
      stderr: '',
    });
  });

  whereAudited('in the audit log of the API server', () => {
    test('leaves what it would have denied', async () => {
      expect((await creationOf(namespace, 'audited')).annotations).toMatchObject({
        [`${annotations}/would-deny`]: rule,
      });
    });
  });

  test('leaves it in metrics and logs', async () => {
    expect(await metricSum(`sallyport_admission_rule_findings_total{rule="${rule}",mode="would-deny"}`)).toBe(1);
    const lines = await waitFor('a line of it', async () => {
      const found = (await webhookLogs())
        .flatMap((log) => log.split('\n'))
        .filter((line) => line.includes('write would be denied'));
      return found.length > 0 ? found : undefined;
    });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        operation: 'CREATE',
        kind: 'HTTPRoute',
        namespace,
        name: 'audited',
        dryRun: false,
        rules: [rule],
      }),
    ]);
  });
});

describe('changed settings', () => {
  test('hold without a restart', async () => {
    await replaceSettings(perNamespace);
    // The kubelet gets to each of them in its own time, and which of them is asked nobody knows.
    await waitFor(
      'both pods have them',
      async () =>
        (await webhookLogs()).every((log) => /"profile":"standard".*settings replaced/.test(log)) || undefined,
      kubeletPatience,
    );
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => create('changed', [bad], '--dry-run=server')));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`[${rule}]`) });
    await waitForFailurePolicy('Fail');
    expect(await webhookPods()).toEqual(pods);
  });

  test('hold for the namespaces that they name', async () => {
    const outcome = await createFrom(httpRoute({ name: 'named', namespace: lenient }, { rules: [bad] }));
    expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining(`Warning: [${rule}] spec.rules[0]`) });
  });

  test('hold for the namespaces that their selector matches, also when a label goes', async () => {
    const route = httpRoute({ name: 'selected', namespace: watched }, { rules: [bad] });
    expect(await createFrom(route)).toEqual({
      code: 0,
      stdout: 'httproute.gateway.networking.k8s.io/selected created\n',
      stderr: '',
    });
    await kubectlOutput(['label', 'namespace', watched, 'stage=production', '--overwrite']);
    const denied = await waitFor('the label is seen', async () => {
      const outcome = await createFrom(
        { ...route, metadata: { name: 'selected-no-more', namespace: watched } },
        '--dry-run=server',
      );
      return outcome.code === 1 ? outcome : undefined;
    });
    expect(denied.stderr).toContain(`[${rule}]`);
  });

  test('exempt the users that they name, and no others', async () => {
    // The group may do everything, so that nothing but the webhook can refuse.
    const as = (user: string) => [`--as=${user}`, '--as-group=system:masters'];
    expect(await create('exempt', [bad], ...as(exemptUser))).toEqual({
      code: 0,
      stdout: 'httproute.gateway.networking.k8s.io/exempt created\n',
      stderr: '',
    });
    expect(await create('not-exempt', [bad], ...as('somebody-else'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`[${rule}]`),
    });
  });

  whereAudited('in the audit log of the API server', () => {
    test('leave what was done by them', async () => {
      expect((await creationOf(lenient, 'named')).annotations).toMatchObject({ [`${annotations}/warned`]: rule });
      expect((await creationOf(watched, 'selected')).annotations).toMatchObject({
        [`${annotations}/would-deny`]: rule,
      });
      expect((await creationOf(namespace, 'exempt')).annotations).toMatchObject({ [`${annotations}/exempt`]: 'true' });
    });
  });

  test('say which bundle holds, whatever the CRDs say', async () => {
    expect(await create('cors', [cors])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Unsupported value "CORS": it is in the standard channel since v1.5'),
    });
  });

  test('that are wrong are told with their place, and the last good ones stay', async () => {
    await replaceSettings('profile: standard\nfailurePolicy: Ignore\neffects:\n  duration-from: deny\n');
    await settingsReload('failed');
    const problem = 'settings.yaml:4:3: effects.duration-from: unknown rule. Did you mean duration-form?';
    await waitFor(
      'both pods say why',
      async () => (await webhookLogs()).every((log) => log.includes(problem)) || undefined,
    );
    expect(await create('wrong', [bad])).toMatchObject({ code: 1, stderr: expect.stringContaining(`[${rule}]`) });
    expect(await create('good', [{}])).toMatchObject({ code: 0 });
    expect(await failurePolicy()).toBe('Fail');
    expect(await webhookPods()).toEqual(pods);
  });

  test('that are wrong stop a rollout, and the old pods go on', async () => {
    await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-webhook', '-n', systemNamespace]);
    await waitFor('the new pod fails', async () =>
      (await webhookPods()).some(({ name, restarts }) => restarts > 0 && !pods.some((pod) => pod.name === name))
        ? true
        : undefined,
    );
    expect((await webhookPods()).map(({ name }) => name)).toEqual(expect.arrayContaining(pods.map(({ name }) => name)));
    expect(await create('still-wrong', [bad])).toMatchObject({ code: 1, stderr: expect.stringContaining(`[${rule}]`) });
    expect(await create('still-good', [{}])).toMatchObject({ code: 0 });
  });

  test('that are wrong do not lock the cluster when no old pod is left', async () => {
    expect(await failurePolicy()).toBe('Fail');
    await kubectlOutput(['delete', 'pod', '-n', systemNamespace, '-l', webhookSelector, '--grace-period=0', '--force']);
    await waitForFailurePolicy('Ignore');
    // The API server follows what it stores a moment later, and pods deleted by force live on for a while.
    const passed = await waitFor('writes pass', async () => {
      const outcome = await create('let-pass', [bad]);
      return outcome.code === 0 ? outcome : undefined;
    });
    expect(passed.stderr).toBe('');
  });

  test('that are right again bring webhook and failurePolicy back', async () => {
    await replaceSettings({ profile: 'standard', failurePolicy: 'Fail' });
    // Fresh pods need not wait for the kubelet, which starts failing ones ever more rarely.
    await kubectlOutput(['delete', 'pod', '-n', systemNamespace, '-l', webhookSelector]);
    await waitUntilReady();
    await waitForFailurePolicy('Fail');
    expect(await create('back', [bad])).toMatchObject({ code: 1 });
    // These settings override no bundle.
    expect(await create('cors', [cors])).toMatchObject({ code: 0, stderr: '' });
  });
});
