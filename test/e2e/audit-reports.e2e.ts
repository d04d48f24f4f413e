import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../src/kubernetes/index.ts';
import { reportApis, reportName, type ReportApi } from '../../src/webhook/audit/report.ts';
import { reportDefinitions } from '../support/report-definitions.ts';
import { auditEvents, installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { backend, httpRoute, service } from './support/routes.ts';
import { installSallyport, systemNamespace, uninstallSallyport } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// The continuous audit: objects that were stored before the webhook, its settings and its reports existed.
const [open, legacy] = reportApis as readonly [ReportApi, ReportApi];
const namespace = useNamespace('audit');
const other = useNamespace('audit-other');
const rule = 'header-acted-on-twice';
const bad = {
  filters: [
    {
      type: 'RequestHeaderModifier',
      requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] },
    },
  ],
  backendRefs: [backend],
};
const rbac = 'deploy/components/audit-reports/rbac.yaml';

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await removeReportApis();
  await apply(...reportDefinitions(legacy).map(definition));
  await kubectlOutput(['wait', '--for=condition=Established', ...definitionNames(legacy)]);
  await apply(service(namespace), service(other));
  await apply(httpRoute({ name: 'stored', namespace }, { rules: [bad] }));
  await apply(
    httpRoute(
      {
        name: 'exempt',
        namespace: other,
        annotations: { 'sallyport.dev/exempt': 'moves soon', 'sallyport.dev/exempt-until': '9999-12-31' },
      },
      { rules: [bad] },
    ),
  );
  await installSallyport('enforce', {
    settings: {
      profile: 'standard',
      failurePolicy: 'Fail',
      exemptions: { annotations: 'permit' },
      profileLabel: 'honor',
    },
    args: ['--audit-reports'],
  });
  await kubectlOutput(['apply', '-f', rbac]);
});

afterAll(async () => {
  await kubectl(['delete', '-f', rbac, '--ignore-not-found']);
  await uninstallSallyport();
  await removeReportApis();
  await removeCrds();
});

function definition(crd: KubernetesObject): object {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...crd };
}

function definitionNames(api: ReportApi): readonly string[] {
  return reportDefinitions(api).map(({ metadata }) => `crd/${metadata.name}`);
}

async function removeReportApis(): Promise<void> {
  await kubectl(['delete', ...definitionNames(open), ...definitionNames(legacy), '--ignore-not-found']);
}

interface Report {
  readonly metadata: { readonly resourceVersion: string };
  readonly summary: { readonly fail: number; readonly skip: number };
  readonly results: readonly {
    readonly rule: string;
    readonly result: string;
    readonly resources: readonly { readonly name: string; readonly uid: string }[];
    readonly properties: Readonly<Record<string, string>>;
  }[];
}

function report(place: string, api: ReportApi = legacy): Promise<Report> {
  const { apiVersion, plural } = api.namespaced;
  return getObject<Report>([`${plural}.${apiVersion.split('/')[0]}`, reportName, '-n', place]);
}

/** Waits until the report has a result of the rule about a route, with this outcome. */
async function waitForResult(place: string, name: string, result: string, api: ReportApi = legacy): Promise<Report> {
  return waitFor(`${result} about ${place}/${name}`, async () => {
    const found = await report(place, api);
    return found.results.some((one) => one.rule === rule && one.result === result && one.resources[0]?.name === name)
      ? found
      : undefined;
  });
}

/** Waits until there is no report any more. Gives what kubectl says then. */
async function absenceOf(resource: string): Promise<string> {
  return waitFor(`no ${resource}`, async () => {
    const { code, stderr } = await kubectl(['get', resource, reportName, '-n', namespace]);
    return code === 0 ? undefined : stderr;
  });
}

describe('the continuous audit', () => {
  test('reports stored objects that admission would deny', async () => {
    const { summary, results } = await waitForResult(namespace, 'stored', 'fail');
    expect(summary.fail).toBeGreaterThan(0);
    const { uid } = (
      await getObject<{ readonly metadata: { readonly uid: string } }>(['httproute', 'stored', '-n', namespace])
    ).metadata;
    expect(results.find((one) => one.rule === rule)).toMatchObject({
      resources: [{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', namespace, name: 'stored', uid }],
      properties: { path: expect.stringMatching(/^spec\.rules\[0\]\.filters\[0\]/), effect: 'deny' },
    });
  });

  test('reports exemptions, which admission honors', async () => {
    expect((await waitForResult(other, 'exempt', 'skip')).summary).toMatchObject({ fail: 0, skip: 1 });
    const annotations = { 'sallyport.dev/exempt': 'moves soon', 'sallyport.dev/exempt-until': '9999-12-31' };
    const create = (metadata: object) =>
      kubectl(['create', '--dry-run=server', '-f', '-'], {
        stdin: JSON.stringify(httpRoute({ name: 'new', namespace: other, ...metadata }, { rules: [bad] })),
      });
    const admitted = await create({ annotations });
    expect(admitted.code).toBe(0);
    expect(admitted.stderr).toContain('Exempt until 9999-12-31: ');
    const ended = await create({ annotations: { ...annotations, 'sallyport.dev/exempt-until': '2020-12-31' } });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain('The exemption expired after 2020-12-31.');
  });

  test('follows the label of a namespace, and leaves other reports alone', async () => {
    const { resourceVersion } = (await report(other)).metadata;
    await kubectlOutput(['label', 'namespace', namespace, 'sallyport.dev/profile=audit']);
    const { results } = await waitForResult(namespace, 'stored', 'warn');
    expect(results.find((one) => one.rule === rule)?.properties['effect']).toBe('would-deny');
    expect((await report(other)).metadata.resourceVersion).toBe(resourceVersion);
  });

  test('moves to OpenReports once it is installed', async () => {
    await apply(...reportDefinitions(open).map(definition));
    await waitForResult(namespace, 'stored', 'warn', open);
    expect(await absenceOf('policyreports.wgpolicyk8s.io')).toContain('NotFound');
  });

  test('removes the report with the last object', async () => {
    await kubectlOutput(['delete', 'httproute', 'stored', '-n', namespace]);
    expect(await absenceOf('reports.openreports.io')).toContain('NotFound');
  });

  test('writes rarely, and is refused nothing', async () => {
    const account = `system:serviceaccount:${systemNamespace}:sallyport-webhook`;
    const events = ((await auditEvents()) ?? []).filter(
      ({ stage, user, objectRef }) =>
        stage === 'ResponseComplete' &&
        user.username === account &&
        ['reports', 'policyreports'].includes(objectRef?.resource ?? '') &&
        [namespace, other].includes(objectRef?.namespace ?? ''),
    );
    expect(events.length).toBeLessThan(20);
    expect(
      events.map(({ responseStatus }) => responseStatus?.code).filter((code) => code !== 200 && code !== 201),
    ).toEqual([]);
  });
});
