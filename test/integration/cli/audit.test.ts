import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { customResourceDefinitions, pathOf, type ResourceType } from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { configMaps, kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { startProgram } from '../../support/program.ts';

const group = 'gateway.networking.k8s.io';
const experimentalGroup = 'gateway.networking.x-k8s.io';
const routes: ResourceType = { apiVersion: `${group}/v1`, kind: 'HTTPRoute', plural: 'httproutes', namespaced: true };
const backends: ResourceType = {
  apiVersion: `${experimentalGroup}/v1alpha1`,
  kind: 'XBackend',
  plural: 'xbackends',
  namespaced: true,
};

let stage: KubernetesStage;
let folder: string;
let cluster: readonly string[];

beforeAll(async () => {
  stage = await kubernetesStage();
  defineKind(stage, 'HTTPRoute', 'v1');
  seed(stage, customResourceDefinitions, {
    metadata: {
      name: `xbackends.${experimentalGroup}`,
      annotations: { [`${group}/bundle-version`]: 'v1.7.0', [`${group}/channel`]: 'experimental' },
    },
    spec: {
      group: experimentalGroup,
      scope: 'Namespaced',
      names: { kind: 'XBackend', plural: 'xbackends' },
      versions: [{ name: 'v1alpha1', served: true, storage: true }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1alpha1'] },
  });
  folder = await mkdtemp(join(tmpdir(), 'sallyport-audit-'));
  const kubeconfig = await file(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
      'current-context': 'fake',
    }),
  );
  cluster = ['--cluster', '--kubeconfig', kubeconfig];
  seedRoute('late', {});
  seedRoute('exempt', {
    annotations: { 'sallyport.dev/ignore': 'backend-request-timeout: accepted until the rewrite' },
  });
});
afterAll(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

/** A route whose timeouts no bundle accepts; it was stored before there was a rule. */
function seedRoute(name: string, marks: { readonly annotations?: Readonly<Record<string, string>> }): void {
  seed(stage, routes, {
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'shop', ...marks },
    spec: {
      rules: [{ matches: [{ path: { value: `/${name}` } }], timeouts: { request: '1s', backendRequest: '2s' } }],
    },
  });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

async function outcome(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const program = startProgram('audit', ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

describe('audit', () => {
  let report: string;

  test('judges all stored objects, kinds that are not evaluated included, and counts exemptions', async () => {
    const { code, output, errors } = await outcome(...cluster, '-o', 'json');
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
    const { objects, summary, comparison } = JSON.parse(output) as {
      readonly objects: readonly { readonly kind: string; readonly name: string; readonly verdict: string }[];
      readonly summary: object;
      readonly comparison?: unknown;
    };
    expect(
      objects
        .filter(({ kind }) => kind === 'HTTPRoute')
        .map(({ name, verdict }) => `${name} ${verdict}`)
        .toSorted(),
    ).toEqual(['exempt allowed', 'late denied']);
    expect(summary).toMatchObject({ denied: 1, suppressed: 1 });
    expect(comparison).toBeUndefined();
    report = await file('report.json', output);
  });

  test('nothing has changed: exit code 0', async () => {
    const { code, output } = await outcome(...cluster, '--since', report);
    expect(output).toMatch(/^\d+ objects: 0 errors, 0 warnings, \d+ suppressed\n0 new, 0 gone, \d+ unchanged\n$/);
    expect(code).toBe(0);
  });

  test('new findings are listed, and those that are gone', async () => {
    await stage.client.request({ method: 'DELETE', path: pathOf(routes, { namespace: 'shop', name: 'late' }) });
    seedRoute('newer', {});
    seed(stage, backends, {
      kind: 'XBackend',
      metadata: { name: 'odd', namespace: 'shop' },
      spec: { type: 'Nothing' },
    });
    const { code, output } = await outcome(...cluster, '--since', report);
    expect(output).toMatch(
      /^HTTPRoute shop\/newer: error \[backend-request-timeout\] spec\.rules\[0\]\.timeouts\.backendRequest: /m,
    );
    // No release has the schema of its CRD.
    expect(output).toMatch(/^XBackend shop\/odd: warning \[schema\] spec\.type: /m);
    expect(output).toMatch(
      /^Gone since the earlier report:\n(?: {2}.*\n)* {2}backend-request-timeout HTTPRoute shop\/late /m,
    );
    expect(code).toBe(1);
    const json = JSON.parse((await outcome(...cluster, '--since', report, '-o', 'json')).output) as {
      readonly comparison: { readonly new: number; readonly gone: readonly string[] };
    };
    expect(json.comparison.new).toBeGreaterThanOrEqual(2);
    expect(
      json.comparison.gone.some((identity) => identity.startsWith('backend-request-timeout HTTPRoute shop/late')),
    ).toBe(true);
    const sarif = await outcome(...cluster, '--since', report, '-o', 'sarif');
    expect(sarif.errors).toMatch(/^\d+ new, \d+ gone, \d+ unchanged\n$/);
  });

  test.each([
    [[], 'No objects: use --files or --cluster.'],
    [['-f', 'examples/quickstart', '--since', 'package.json'], 'The report package.json has no list of objects.'],
    [['-f', 'missing.yaml'], 'missing.yaml'],
  ])('%j cannot be done: exit code 2', async (args, message) => {
    const { code, errors } = await outcome(...args);
    expect(errors).toContain(message);
    expect(code).toBe(2);
  });

  test('lists exemptions, those that have ended included', async () => {
    const exempt = (name: string, until: string): object => ({
      apiVersion: `${group}/v1`,
      kind: 'HTTPRoute',
      metadata: {
        name,
        namespace: 'shop',
        annotations: { 'sallyport.dev/exempt': 'awaits the rewrite', 'sallyport.dev/exempt-until': until },
      },
      spec: {
        rules: [{ matches: [{ path: { value: `/${name}` } }], timeouts: { request: '1s', backendRequest: '2s' } }],
      },
    });
    const [valid, ended] = [exempt('valid', '9999-12-31'), exempt('ended', '2020-12-31')];
    const files = await file('exempt.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [valid, ended] }));
    const { code, output } = await outcome('-f', files);
    expect(output).toMatch(/ error \[backend-request-timeout\] /);
    expect(output).toMatch(/ warning \[exemption\] .*: The exemption expired after 2020-12-31\. /);
    expect(output).toMatch(
      /^Exemptions \(2\):\n {2}HTTPRoute shop\/valid until 9999-12-31: awaits the rewrite \(\d+ findings?\)\n {2}HTTPRoute shop\/ended \(expired\): The exemption expired after 2020-12-31\./m,
    );
    expect(code).toBe(1);
    const json = JSON.parse((await outcome('-f', files, '-o', 'json')).output) as {
      readonly objects: readonly { readonly name: string; readonly verdict: string }[];
      readonly exemptions: readonly { readonly object: string; readonly state: string }[];
    };
    expect(json.objects.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual(['valid allowed', 'ended denied']);
    expect(json.exemptions).toMatchObject([
      { object: 'HTTPRoute shop/valid', state: 'valid', until: '9999-12-31' },
      { object: 'HTTPRoute shop/ended', state: 'expired', findings: 0 },
    ]);
  });

  describe('with settings', () => {
    const settings = 'effects: { backend-request-timeout: warn }\nexemptions: { namespaces: [other] }\n';
    const seedSettings = (namespace: string, text: string): void =>
      void seed(stage, configMaps, {
        metadata: { namespace, name: 'sallyport-settings' },
        data: { 'settings.yaml': text },
      });

    beforeAll(() => {
      seedRoute('judged', {});
      seedSettings('gateways', settings);
    });

    test.each([
      [['--settings', 'FILE'], 'warning'],
      [['--webhook-namespace', 'gateways'], 'warning'],
      [['--webhook-namespace', 'gateways', '--profile', 'standard'], 'error'],
    ])('judges by those of the file, or of the webhook unless an option says otherwise: %j', async (args, severity) => {
      const path = await file('settings.yaml', settings);
      const { output } = await outcome(...cluster, ...args.map((arg) => (arg === 'FILE' ? path : arg)));
      expect(/^HTTPRoute shop\/judged: (\w+) \[backend-request-timeout\]/m.exec(output)?.[1]).toBe(severity);
    });

    test('a bundle of the settings is not a guess, and applies to its kinds', async () => {
      const override = 'bundleOverrides: [{ kinds: [XBackend], bundle: v1.7, channel: experimental }]\n';
      const { output } = await outcome(...cluster, '--settings', await file('override.yaml', override));
      expect(output).toMatch(/^XBackend shop\/odd: error \[schema\] spec\.type: /m);
    });

    test('rejects a file that is invalid', async () => {
      const wrong = await outcome(...cluster, '--settings', await file('wrong.yaml', 'profil: strict\n'));
      expect(wrong).toMatchObject({ code: 2, output: '', errors: expect.stringContaining('wrong.yaml:1:') });
    });

    test('tells that those of the webhook may not be read, once', async () => {
      stage.server.fail({
        when: ({ path }) => path.endsWith('/configmaps/sallyport-settings'),
        act: { code: 403, reason: 'Forbidden' },
      });
      const { errors, output } = await outcome(...cluster);
      expect(errors).toBe(
        'The settings in namespace "sallyport-system" are not observed, the profile standard applies: injected Forbidden\n',
      );
      expect(output).toMatch(/^HTTPRoute shop\/judged: error /m);
    });

    test('does not guess those of a webhook whose ConfigMap is invalid', async () => {
      seedSettings('broken', 'profile: none\n');
      expect(await outcome(...cluster, '--webhook-namespace', 'broken')).toMatchObject({
        code: 2,
        output: '',
        errors: expect.stringMatching(/ConfigMap broken\/sallyport-settings:1:\d+: profile: /),
      });
    });
  });

  test('writes nothing', () => {
    // The test itself deletes one route.
    expect(stage.server.audit.filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });
});
