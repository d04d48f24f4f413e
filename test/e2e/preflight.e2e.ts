import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dump, loadAll } from 'js-yaml';
import { crdManifests } from '../cluster/crd-manifests.ts';
import { startProgram } from '../support/program.ts';
import { installCrds, policyPatience, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { lostFields } from './support/lost-fields.ts';
import { waitFor } from './support/wait.ts';

// The prediction of `preflight` for a change of CRDs, compared with the change itself.
const namespace = useNamespace('preflight');
const group = 'gateway.networking.k8s.io';
const experimentalGroup = 'gateway.networking.x-k8s.io';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

interface Finding {
  readonly check: string;
  readonly severity: string;
  readonly subject: string;
  readonly field?: string;
  readonly message: string;
  readonly commands: readonly string[];
}

interface Report {
  readonly from: string;
  readonly objects: number;
  readonly findings: readonly Finding[];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-preflight-'));
});
afterAll(async () => {
  await removeCrds();
  await rm(folder, { recursive: true });
});

function named(kind: string, name: string, spec: unknown, apiVersion = `${group}/v1`): Manifest {
  return { apiVersion, kind, metadata: { name, ...(kind === 'GatewayClass' ? {} : { namespace }) }, spec };
}

const gatewayClass = named('GatewayClass', 'preflight', { controllerName: 'sallyport.dev/gateway-controller' });
const parentRefs = [{ name: 'web' }];
const backendRefs = [{ name: 'app', port: 80 }];

async function preflight(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly report: Report }> {
  const program = startProgram('preflight', '--cluster', ...args, '-o', 'json');
  const code = await program.ended();
  expect(program.errors()).toBe('');
  return { code, report: JSON.parse(program.output()) as Report };
}

function subjects(report: Report, check: string): readonly string[] {
  return report.findings
    .filter((finding) => finding.check === check)
    .map(({ subject }) => subject)
    .toSorted();
}

/** `HTTPRoute ns/name spec.rules[0].retry`, for the spec only: statuses are not part of what users write. */
function predictedLosses({ findings }: Report): readonly string[] {
  const lost = findings.filter(
    ({ check, field = '' }) => ['lost-protection', 'pruned-fields'].includes(check) && field.startsWith('spec'),
  );
  return lost.map(({ subject, field }) => `${subject} ${field ?? ''}`).toSorted();
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

function resourceOf({ apiVersion, kind }: Manifest): string {
  return `${kind.toLowerCase()}.${apiVersion.split('/')[0] ?? ''}`;
}

async function stored(manifest: Manifest): Promise<Manifest> {
  return getObject<Manifest>([
    resourceOf(manifest),
    manifest.metadata.name,
    ...(manifest.metadata.namespace === undefined ? [] : ['-n', manifest.metadata.namespace]),
  ]);
}

/** The CRDs of a bundle that the API server refuses to install. */
async function refusedCrds(
  version: string,
  channel: string,
  ...options: readonly string[]
): Promise<readonly string[]> {
  const { stderr } = await kubectl(['apply', '--server-side', '--force-conflicts', ...options, '-f', '-'], {
    stdin: crdManifests(version, channel),
  });
  await kubectlOutput(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  return [
    ...new Set(
      [...stderr.matchAll(/customresourcedefinitions?\.apiextensions\.k8s\.io "([^"]+)"/gi)].map(
        ([, name = '']) => name,
      ),
    ),
  ].toSorted();
}

/** Whether the API server would take a copy of the object under another name, in the version that it serves now. */
async function isRejected(manifest: Manifest): Promise<boolean> {
  const { apiVersion, kind, spec } = await stored(manifest);
  const copy = { apiVersion, kind, metadata: { ...manifest.metadata, name: `${manifest.metadata.name}-copy` }, spec };
  const { code } = await kubectl(['create', '--dry-run=server', '--validate=false', '-f', '-'], {
    stdin: JSON.stringify(copy),
  });
  return code !== 0;
}

/** Runs a command of a report. There is no way out of the cluster's network, so CRDs come from the module instead of the Internet. */
async function run(command: string): Promise<void> {
  const place = /-f https:\/\/\S+gateway-api\/(v[\d.]+)\/config\/crd\/(\w+)\/(\S+)_(\w+)\.yaml$/.exec(command);
  if (place === null) {
    const child = spawn('bash', ['-c', `set -o pipefail; ${command}`], {
      cwd: folder,
      // kubectl edit changes nothing with this editor.
      env: { ...process.env, KUBE_EDITOR: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [code, errors] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
    if (code !== 0) throw new Error(`${command}: ${errors}`);
    return;
  }
  const [, version = '', channel = '', ofGroup = '', plural = ''] = place;
  const crd = (loadAll(crdManifests(version, channel)) as Manifest[]).find(
    ({ kind, metadata }) => kind === 'CustomResourceDefinition' && metadata.name === `${plural}.${ofGroup}`,
  );
  const file = join(folder, `${plural}.yaml`);
  await writeFile(file, dump(crd));
  await kubectlOutput(['apply', '--server-side', '-f', file]);
  await kubectlOutput(['wait', '--for=condition=Established', 'crd', `${plural}.${ofGroup}`, '--timeout=60s']);
}

const reading = /^kubectl (?:get|describe|edit|version|auth can-i)\b[^|>]*$/;
/** The commands that tests run one by one, and those of tools that the cluster does not have. */
const changing =
  /^(?:kubectl (?:delete|patch|wait|apply|create|replace) |kubectl get \S+ --all-namespaces -o \w+ [|>] |echo '|"\$\{EDITOR)/;

/** Runs all commands of a report that change nothing, each as it is printed. */
async function runReading({ findings }: Report): Promise<void> {
  const commands = [...new Set(findings.flatMap((finding) => finding.commands))];
  expect(findings.filter((finding) => finding.commands.length === 0)).toEqual([]);
  expect(commands.filter((command) => !reading.test(command) && !changing.test(command))).toEqual([]);
  for (const command of commands.filter((one) => reading.test(one))) await run(command);
}

/** A migration fails while the controller manager remembers the versions that were served before. The report says to run it again. */
async function migrate(commands: readonly string[]): Promise<void> {
  const attempt = async (): Promise<true | undefined> => {
    try {
      // A migration takes up to 40 s on a busy machine. Each attempt begins again.
      for (const command of commands) await run(command.replace('--timeout=5m', '--timeout=75s'));
      return true;
    } catch {
      return undefined;
    }
  };
  await waitFor('the migration of stored objects', attempt, 240);
}

interface Comparison {
  readonly from: readonly [version: string, channel: 'standard' | 'experimental'];
  readonly to: readonly [version: string, channel: 'standard' | 'experimental'];
  readonly objects: readonly Manifest[];
}

/** Installs the first bundle with its objects, predicts, and returns the prediction with the state before. */
async function prepare({ from, to, objects }: Comparison): Promise<{
  readonly code: number | null;
  readonly report: Report;
  readonly before: ReadonlyMap<Manifest, Manifest>;
}> {
  await removeCrds();
  await installCrds(...from);
  await apply(...objects);
  const before = new Map<Manifest, Manifest>();
  for (const object of objects) before.set(object, await stored(object));
  const predicted = await preflight('--to', to[0], '--channel', to[1]);
  expect(predicted.report.objects).toBe(objects.length);
  await runReading(predicted.report);
  return { ...predicted, before };
}

/** Compares what became of the objects with the prediction. */
async function compareObjects(report: Report, before: ReadonlyMap<Manifest, Manifest>): Promise<void> {
  const losses: string[] = [];
  const rejected: string[] = [];
  for (const [manifest, was] of before) {
    losses.push(
      ...lostFields(was.spec, (await stored(manifest)).spec, 'spec').map((field) => `${nameOf(manifest)} ${field}`),
    );
    if (await isRejected(manifest)) rejected.push(nameOf(manifest));
  }
  expect(losses.toSorted()).toEqual(predictedLosses(report));
  expect(rejected.toSorted()).toEqual([...new Set(subjects(report, 'rejected-objects'))]);
}

describe('v1.0 experimental to v1.7 standard', () => {
  const alpha2 = `${group}/v1alpha2`;
  const policy = named(
    'BackendTLSPolicy',
    'app',
    {
      targetRef: { group: '', kind: 'Service', name: 'app' },
      tls: { hostname: 'app.example.com', wellKnownCACerts: 'System' },
    },
    alpha2,
  );
  const objects = [
    gatewayClass,
    named('Gateway', 'web', {
      gatewayClassName: 'preflight',
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    }),
    named('HTTPRoute', 'shop', { parentRefs, rules: [{ backendRefs, timeouts: { request: '10s' } }] }),
    named('HTTPRoute', 'empty', { parentRefs, rules: [] }),
    named(
      'ReferenceGrant',
      'grant',
      { from: [{ group, kind: 'HTTPRoute', namespace: 'other' }], to: [{ group: '', kind: 'Service' }] },
      `${group}/v1beta1`,
    ),
    named('GRPCRoute', 'calls', { parentRefs, rules: [{ backendRefs }] }, alpha2),
    named('TCPRoute', 'database', { parentRefs, rules: [{ backendRefs }, { backendRefs }] }, alpha2),
    named('TLSRoute', 'open', { parentRefs, rules: [{ backendRefs }] }, alpha2),
    policy,
  ];

  test('preflight predicts the CRDs that the API server refuses, and its commands lead to the target', async () => {
    const { code, report, before } = await prepare({
      from: ['v1.0.0', 'experimental'],
      to: ['v1.7.0', 'standard'],
      objects,
    });
    expect(code).toBe(1);
    expect(report.from).toBe('v1.0 experimental');
    const blocked = report.findings.filter(
      ({ check, severity }) => check === 'stored-versions' && severity === 'blocker',
    );
    const names = blocked.map(({ subject }) => subject).toSorted();
    expect(names).toEqual([`backendtlspolicies.${group}`, `grpcroutes.${group}`]);
    // Users run the commands before the upgrade.
    expect(await refusedCrds('v1.7.0', 'standard', '--dry-run=server')).toEqual(names);
    expect(subjects(report, 'old-clients')).toContain(`kubectl (${alpha2})`);

    const [policies, calls] = ['backendtlspolicies', 'grpcroutes'].map(
      (plural) => blocked.find(({ subject }) => subject === `${plural}.${group}`)?.commands ?? [],
    );
    await run(calls?.[0] ?? '');
    await migrate((calls ?? []).slice(1));
    // Export, deletion and the new CRD; the edit is up to the user.
    for (const command of (policies ?? []).slice(0, 3)) await run(command);
    await apply({
      ...policy,
      apiVersion: `${group}/v1`,
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'app' }],
        validation: { hostname: 'app.example.com', wellKnownCACertificates: 'System' },
      },
    });
    expect(await refusedCrds('v1.7.0', 'standard')).toEqual([]);

    // The policy was created anew, so nothing of it is left to compare.
    await compareObjects(
      { ...report, findings: report.findings.filter(({ subject }) => subject !== nameOf(policy)) },
      new Map([...before].filter(([manifest]) => manifest !== policy)),
    );
    expect([...new Set(subjects(report, 'rejected-objects'))]).toEqual(
      [
        nameOf(policy),
        nameOf(objects[3] ?? policy),
        nameOf(objects[6] ?? policy),
        nameOf(objects[7] ?? policy),
      ].toSorted(),
    );
    const later = await preflight('--to', 'v1.7.0');
    expect(
      later.report.findings.filter(({ check, severity }) => check === 'stored-versions' && severity === 'blocker'),
    ).toEqual([]);
    // Objects of versions that v1.7 lists and does not serve are still stored; storing them again ends that.
    const notes = later.report.findings.filter(({ check }) => check === 'stored-versions');
    expect(notes.map(({ subject }) => subject).toSorted()).toEqual([
      `tcproutes.${group}`,
      `tlsroutes.${group}`,
      `udproutes.${group}`,
    ]);
    // The TCPRoute has two rules and the TLSRoute no hostnames, which v1 rejects. They are stored as v1 nevertheless, because the API server ratchets.
    for (const plural of ['tcproutes', 'tlsroutes']) {
      await run(`kubectl get ${plural}.${group} --all-namespaces -o json | kubectl replace --validate=false -f -`);
      await run(
        `kubectl patch crd ${plural}.${group} --subresource=status --type=merge -p '{"status":{"storedVersions":["v1"]}}'`,
      );
    }
    expect(subjects((await preflight('--to', 'v1.7.0')).report, 'stored-versions')).toEqual([`udproutes.${group}`]);
  });
});

describe('v1.5 to v1.7', () => {
  test('standard: objects are rejected', async () => {
    const objects = [
      gatewayClass,
      named('HTTPRoute', 'names', {
        parentRefs,
        rules: [
          { name: 'same', backendRefs },
          { name: 'same', backendRefs },
        ],
      }),
      named('HTTPRoute', 'shop', { parentRefs, rules: [{ name: 'one', backendRefs }] }),
      named('TLSRoute', 'secure', { parentRefs, hostnames: ['shop.example.com'], rules: [{ backendRefs }] }),
      named('GatewayClass', 'envoy', { controllerName: 'gateway.envoyproxy.io/gatewayclass-controller' }),
    ];
    const { code, report, before } = await prepare({
      from: ['v1.5.1', 'standard'],
      to: ['v1.7.0', 'standard'],
      objects,
    });
    expect(code).toBe(1);
    expect(await refusedCrds('v1.7.0', 'standard')).toEqual([]);
    await compareObjects(report, before);
    expect(subjects(report, 'rejected-objects')).toEqual([`HTTPRoute ${namespace}/names`]);
  });

  test('experimental: fields are renamed', async () => {
    const objects = [
      named('HTTPRoute', 'sticky', {
        parentRefs,
        rules: [
          {
            backendRefs,
            sessionPersistence: { sessionName: 'shop', type: 'Cookie', cookieConfig: { lifetimeType: 'Session' } },
          },
        ],
      }),
      named('TCPRoute', 'database', { parentRefs, rules: [{ backendRefs }] }, `${group}/v1alpha2`),
    ];
    const { report, before } = await prepare({
      from: ['v1.5.1', 'experimental'],
      to: ['v1.7.0', 'experimental'],
      objects,
    });
    expect(await refusedCrds('v1.7.0', 'experimental')).toEqual([]);
    await compareObjects(report, before);
    expect(predictedLosses(report)).toEqual(
      ['cookieConfig', 'sessionName'].map(
        (field) => `HTTPRoute ${namespace}/sticky spec.rules[0].sessionPersistence.${field}`,
      ),
    );
  });
});

describe('v1.7', () => {
  const authentication = {
    type: 'ExternalAuth',
    externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } },
  };

  test('experimental to standard: protection is lost, and kinds remain', async () => {
    const objects = [
      gatewayClass,
      named('Gateway', 'web', {
        gatewayClassName: 'preflight',
        addresses: [{ type: 'IPAddress', value: '10.0.0.1', routability: 'Cluster' }],
        listeners: [{ name: 'http', port: 80, protocol: 'HTTP', filters: { requests: [authentication] } }],
      }),
      named('HTTPRoute', 'private', { parentRefs, rules: [{ backendRefs, filters: [authentication] }] }),
      named('HTTPRoute', 'retry', { parentRefs, rules: [{ backendRefs, retry: { attempts: 2 } }] }),
      named(
        'XBackend',
        'outside',
        {
          type: 'ExternalHostname',
          externalHostname: { hostname: 'api.example.com' },
          port: { number: 443 },
          protocol: 'HTTP',
        },
        `${experimentalGroup}/v1alpha1`,
      ),
    ];
    const { code, report, before } = await prepare({
      from: ['v1.7.0', 'experimental'],
      to: ['v1.7.0', 'standard'],
      objects,
    });
    expect(code).toBe(1);
    expect(subjects(report, 'safe-upgrades')).toHaveLength(1);
    expect(report.findings.filter(({ check }) => check === 'lost-protection').map(({ field }) => field)).toEqual([
      'spec.addresses[0].routability',
      'spec.listeners[0].filters',
      'spec.rules[0].filters[0].externalAuth',
    ]);
    expect(subjects(report, 'removed-kinds')).toEqual([`xbackends.${experimentalGroup}`]);
    expect(await refusedCrds('v1.7.0', 'standard')).toEqual([]);
    await compareObjects(report, before);
    expect(subjects(report, 'rejected-objects')).toEqual([`HTTPRoute ${namespace}/private`]);
  });

  test('standard to experimental: the policy denies it until it is deleted', async () => {
    const { code, report } = await prepare({
      from: ['v1.7.0', 'standard'],
      to: ['v1.7.0', 'experimental'],
      objects: [gatewayClass],
    });
    expect(code).toBe(1);
    const denial = report.findings.find(({ check }) => check === 'safe-upgrades');
    expect(denial?.severity).toBe('blocker');
    // A policy that was just installed is in force a moment later.
    await waitFor('the policy denies the bundle', async () =>
      (await refusedCrds('v1.7.0', 'experimental', '--dry-run=server')).includes(`gateways.${group}`)
        ? true
        : undefined,
    );
    const refused = await refusedCrds('v1.7.0', 'experimental');
    expect(refused).toContain(`gateways.${group}`);
    expect(refused.filter((name) => name.endsWith(experimentalGroup))).toEqual([]);
    for (const command of denial?.commands ?? []) await run(command);
    // A dry run does not bring the policy back, as the bundle does.
    await waitFor(
      'the policy denies nothing',
      async () => ((await refusedCrds('v1.7.0', 'experimental', '--dry-run=server')).length === 0 ? true : undefined),
      policyPatience,
    );
    expect(await refusedCrds('v1.7.0', 'experimental')).toEqual([]);
  });
});

describe('findings of other parties, and after a change', () => {
  const routes = `httproutes.${group}`;

  beforeAll(async () => {
    await removeCrds();
    await installCrds('v1.6.3', 'standard');
  });
  afterAll(() =>
    kubectl(['delete', 'validatingadmissionpolicy', 'enforce-gateway-standard-channel', '--ignore-not-found']),
  );

  test('CRDs that another party manages, and its policy', async () => {
    await kubectlOutput(['annotate', 'crd', routes, 'meta.helm.sh/release-name=gateway-api']);
    await kubectlOutput(['label', 'crd', `gateways.${group}`, 'addonmanager.kubernetes.io/mode=Reconcile']);
    await kubectlOutput(['annotate', 'crd', `grpcroutes.${group}`, 'note=x', '--field-manager=installer']);
    await apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'enforce-gateway-standard-channel' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    });
    const { code, report } = await preflight('--to', 'v1.7.0', '--channel', 'experimental');
    expect(code).toBe(1);
    expect(subjects(report, 'managed-crds')).toEqual([
      'Helm',
      'The add-on manager of the provider',
      'ValidatingAdmissionPolicy enforce-gateway-standard-channel',
      'installer',
    ]);
    await runReading(report);
  });

  test('--since names the routes that were accepted before, and are not now', async () => {
    const route = named('HTTPRoute', 'shop', { parentRefs, rules: [{ backendRefs }] });
    const other = named('HTTPRoute', 'other', { parentRefs, rules: [{ backendRefs }] });
    await apply(gatewayClass, route, other);
    for (const { metadata } of [route, other]) await writeAccepted(metadata.name, 'True');
    const { report } = await preflight('--to', 'v1.7.0');
    const file = join(folder, 'before.json');
    await writeFile(file, JSON.stringify(report));
    expect((await preflight('--since', file)).code).toBe(0);

    expect(await refusedCrds('v1.7.0', 'standard')).toEqual([]);
    await writeAccepted('shop', 'False');
    const after = await preflight('--since', file);
    expect(after.code).toBe(1);
    expect(subjects(after.report, 'lost-accepted')).toEqual([nameOf(route)]);
    await runReading(after.report);
  });
});

/** Writes the condition Accepted of an HTTPRoute, as a controller does. */
async function writeAccepted(name: string, status: 'True' | 'False'): Promise<void> {
  const condition = {
    type: 'Accepted',
    status,
    reason: status === 'True' ? 'Accepted' : 'UnsupportedValue',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const parent = { parentRef: { name: 'web' }, controllerName: 'example.com/controller', conditions: [condition] };
  const patch = JSON.stringify({ status: { parents: [parent] } });
  await kubectlOutput([
    'patch',
    'httproute',
    name,
    '-n',
    namespace,
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  ]);
}
