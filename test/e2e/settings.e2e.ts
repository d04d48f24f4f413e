import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditEvents, installCrds, removeCrds, useNamespace, type AuditEvent } from './support/cluster.ts';
import { kubectl, kubectlOutput, type Outcome } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import {
  failurePolicy, installSallyport, metricsOf, metricSum, replaceSettings, systemNamespace, uninstallSallyport, waitForFailurePolicy, waitUntilReady, webhookLogs, webhookPods,
  webhookSelector, type WebhookPod,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// The audit profile, and what happens when settings change under a running webhook, for better or worse.
const namespace = useNamespace('settings');
const bad = { filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] } }] };
const rule = 'header-acted-on-twice';
/** What the kubelet takes to bring a changed ConfigMap into the pods. */
const patience = 150;

let pods: readonly WebhookPod[];

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installSallyport('audit');
  pods = await webhookPods();
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
});

async function create(name: string, rules: readonly object[], ...flags: readonly string[]): Promise<Outcome> {
  return kubectl(['create', '-f', '-', ...flags], { stdin: JSON.stringify(httpRoute({ name, namespace }, { rules })) });
}

async function creationOf(name: string): Promise<AuditEvent | undefined> {
  return (await auditEvents())?.find(({ verb, objectRef }) => verb === 'create' && objectRef?.resource === 'httproutes' && objectRef.namespace === namespace && objectRef.name === name);
}

/** Waits until each pod has the wished value of the gauge. */
async function settingsReload(state: 'failed' | 'fine'): Promise<void> {
  await waitFor(`the settings are ${state}`, async () => {
    const gauges = await Promise.all((await webhookPods()).map(async (pod) => (await metricsOf(pod)).get('sallyport_settings_reload_failed')));
    return gauges.every((value) => value === (state === 'failed' ? 1 : 0)) ? true : undefined;
  }, patience);
}

describe('the audit profile', () => {
  test('denies nothing and says nothing to who writes', async () => {
    expect(await create('audited', [bad])).toEqual({ code: 0, stdout: 'httproute.gateway.networking.k8s.io/audited created\n', stderr: '' });
  });

  test('leaves what it would have denied in the audit log of the API server', async () => {
    if ((await auditEvents()) === undefined) return;
    const event = await waitFor('the event', async () => creationOf('audited'));
    expect(event.annotations).toMatchObject({ 'validate.gateway.sallyport.dev/would-deny': rule });
  });

  test('leaves it in metrics and logs', async () => {
    expect(await metricSum(`sallyport_admission_rule_findings_total{rule="${rule}",mode="would-deny"}`)).toBe(1);
    const lines = (await webhookLogs()).split('\n').filter((line) => line.includes('write would be denied')).map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([expect.objectContaining({ operation: 'CREATE', kind: 'HTTPRoute', namespace, name: 'audited', dryRun: false, rules: [rule] })]);
  });
});

describe('changed settings', () => {
  test('hold without a restart', async () => {
    await replaceSettings({ profile: 'standard', failurePolicy: 'Fail' });
    const denied = await waitFor('both pods deny', async () => {
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => create('changed', [bad], '--dry-run=server')));
      return outcomes.every(({ code }) => code === 1) ? outcomes[0] : undefined;
    }, patience);
    expect(denied?.stderr).toContain(`[${rule}]`);
    await waitForFailurePolicy('Fail');
    expect(await webhookPods()).toEqual(pods);
  });

  test('that are wrong are told with their place, and the last good ones stay', async () => {
    await replaceSettings('profile: standard\nfailurePolicy: Ignore\neffects:\n  duration-from: deny\n');
    await settingsReload('failed');
    expect(await webhookLogs()).toContain('settings.yaml:4:3: effects.duration-from: there is no rule of this id; did you mean duration-form?');
    expect(await create('wrong', [bad])).toMatchObject({ code: 1, stderr: expect.stringContaining(`[${rule}]`) });
    expect(await create('good', [{}])).toMatchObject({ code: 0 });
    expect(await failurePolicy()).toBe('Fail');
    expect(await webhookPods()).toEqual(pods);
  });

  test('that are wrong stop a rollout, and the old pods go on', async () => {
    await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-webhook', '-n', systemNamespace]);
    await waitFor('the new pod fails', async () => ((await webhookPods()).some(({ name, restarts }) => restarts > 0 && !pods.some((pod) => pod.name === name)) ? true : undefined));
    expect((await webhookPods()).map(({ name }) => name)).toEqual(expect.arrayContaining(pods.map(({ name }) => name)));
    expect(await create('still-wrong', [bad])).toMatchObject({ code: 1, stderr: expect.stringContaining(`[${rule}]`) });
    expect(await create('still-good', [{}])).toMatchObject({ code: 0 });
  });

  test('that are wrong do not lock the cluster when no old pod is left', async () => {
    expect(await failurePolicy()).toBe('Fail');
    await kubectlOutput(['delete', 'pod', '-n', systemNamespace, '-l', webhookSelector, '--grace-period=0', '--force']);
    await waitForFailurePolicy('Ignore');
    expect(await create('let-pass', [bad])).toMatchObject({ code: 0, stderr: '' });
  });

  test('that are right again bring webhook and failurePolicy back', async () => {
    await replaceSettings({ profile: 'standard', failurePolicy: 'Fail' });
    // Fresh pods need not wait for the kubelet, which starts failing ones ever more rarely.
    await kubectlOutput(['delete', 'pod', '-n', systemNamespace, '-l', webhookSelector]);
    await waitUntilReady();
    await waitForFailurePolicy('Fail');
    expect(await create('back', [bad])).toMatchObject({ code: 1 });
  });
});
