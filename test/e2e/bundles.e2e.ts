import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dump, loadAll } from 'js-yaml';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createClient, loadCredentials, type ApiClient } from '../../src/kubernetes/index.ts';
import { crdManifests } from '../cluster/crd-manifests.ts';
import { installCrds, policyPatience, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, kubectl, kubectlOutput, type Outcome } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import {
  failurePolicy,
  metricsOf,
  render,
  systemNamespace,
  uninstallSallyport,
  waitForFailurePolicy,
  waitUntilReady,
  webhookLogs,
  webhookPods,
  type WebhookPod,
} from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// CRDs that come, change and go under a webhook that runs. The tests are one story and build on each other.
const namespace = useNamespace('bundles');
const group = 'gateway.networking.k8s.io';
let client: ApiClient;
let pods: readonly WebhookPod[];

beforeAll(async () => {
  client = createClient(await loadCredentials('default'));
  await removeCrds();
  const manifests = await render('enforce');
  await kubectlOutput(['apply', '-f', '-'], {
    stdin: manifests.map((manifest) => dump(manifest, { noRefs: true })).join('---\n'),
  });
  // Where the network enforces policies, everything below has to work under these.
  await kubectlOutput([
    'apply',
    '-f',
    join(import.meta.dirname, '../../deploy/components/network-policy/network-policy.yaml'),
  ]);
  await waitUntilReady();
  pods = await webhookPods();
});

afterAll(async () => {
  await uninstallSallyport();
  await removeCrds();
  await client.close();
});

interface Crd {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly names: { readonly kind: string } };
}

/** The definitions of a bundle's standard channel. */
function crds(version: string): readonly Crd[] {
  return (loadAll(crdManifests(version, 'standard')) as Crd[]).filter(
    ({ kind }) => kind === 'CustomResourceDefinition',
  );
}

/** Kind → what it is judged by: `1.7 standard`, with `?` for a guess. */
type Judged = Readonly<Record<string, string>>;

/** What every pod of the webhook says that it judges by. */
async function inForce(): Promise<readonly Judged[]> {
  const scraped = await Promise.all((await webhookPods()).map(metricsOf));
  return scraped.map((metrics) =>
    Object.fromEntries(
      [...metrics.keys()].flatMap((sample) => {
        const [, kind = '', bundle, channel, certain] =
          /^sallyport_crd_bundle_info\{kind="(.+)",bundle="(.+)",channel="(.+)",certain="(.+)"\}$/.exec(sample) ?? [];
        return kind === '' ? [] : [[kind, `${bundle} ${channel}${certain === 'true' ? '' : '?'}`]];
      }),
    ),
  );
}

/** The same once it is as expected, and what it is in the end where that does not come. */
function inForceAfter(expected: readonly Judged[]): Promise<readonly Judged[]> {
  return lastOf(inForce, expected);
}

/** What is read once it is as expected, and what was read last where that does not come. */
async function lastOf<T>(read: () => Promise<T>, expected: T): Promise<T> {
  let state = await read();
  await waitFor('what is expected', async () => {
    if (isDeepStrictEqual(state, expected)) return true;
    state = await read();
    return undefined;
  }).catch(() => {});
  return state;
}

/** What `sallyport doctor` does not find in order. */
interface Diagnosis {
  readonly exitCode: number;
  /** Check → status. */
  readonly wrong: Readonly<Record<string, string>>;
}

async function diagnosis(): Promise<Diagnosis> {
  const [exitCode, stdout] = await new Promise<readonly [number, string]>((resolve) => {
    const child = execFile(
      join(import.meta.dirname, '../../bin/sallyport'),
      ['doctor', '--output', 'json'],
      (_, output) => {
        resolve([child.exitCode ?? -1, output]);
      },
    );
  });
  const { verdicts } = JSON.parse(stdout) as {
    readonly verdicts: readonly { readonly check: string; readonly status: string }[];
  };
  return {
    exitCode,
    wrong: Object.fromEntries(
      verdicts.filter(({ status }) => status !== 'ok').map(({ check, status }) => [check, status]),
    ),
  };
}

function diagnosisAfter(expected: Diagnosis): Promise<Diagnosis> {
  return lastOf(diagnosis, expected);
}

const inOrder: Diagnosis = { exitCode: 0, wrong: {} };

/** Both pods judge all kinds of a bundle's standard channel so, and know of no other kind. */
function allBy(version: string, bundle: string): readonly Judged[] {
  const judged = Object.fromEntries(crds(version).map(({ spec }) => [spec.names.kind, bundle]));
  return [judged, judged];
}

const nothing: readonly Judged[] = [{}, {}];
const old = allBy('v1.5.1', '1.5 standard');
const current = allBy('v1.7.0', '1.7 standard');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Verdict {
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  readonly status?: { readonly message: string };
}

/** What the webhook says of an object as it stands: the API server would drop what is not in its schema before it asks. */
async function review(object: object, resource: string): Promise<Verdict> {
  const {
    kind,
    metadata: { name },
  } = object as Manifest;
  const asked = { group, version: 'v1', kind };
  const { response } = (await client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${systemNamespace}/services/https:sallyport-webhook:443/proxy/validate`,
    body: {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'e2e',
        kind: asked,
        requestKind: asked,
        resource: { group, version: 'v1', resource },
        name,
        namespace,
        operation: 'CREATE',
        userInfo: { username: 'jane' },
        dryRun: true,
        object,
      },
    },
  })) as { readonly response: Verdict };
  return response;
}

/** Up to v1.5 a Gateway can have 8 annotations for its infrastructure, from v1.6 on 16. */
function gateway(annotations: number): object {
  const entries = Array.from({ length: annotations }, (_, index) => [`shop.example/${index}`, 'yes']);
  return {
    apiVersion: `${group}/v1`,
    kind: 'Gateway',
    metadata: { name: 'front', namespace },
    spec: {
      gatewayClassName: 'bundles',
      infrastructure: { annotations: Object.fromEntries(entries) },
      listeners: [{ name: 'web', protocol: 'HTTP', port: 80 }],
    },
  };
}

/** In the standard channel from v1.7 on. */
const retrying = httpRoute({ name: 'cart', namespace }, { rules: [{ retry: { attempts: 2 } }] });
const unknownField = expect.stringMatching(
  /^\[schema-unknown-field\] spec\.rules\[0\]\.retry: Unknown field: it is in the standard channel since v1\.7 .*, not in v1\.5 standard, so the API server drops it\./,
);
/** Wrong in every bundle, and nothing that a CRD refuses. */
const bad = httpRoute(
  { name: 'bad', namespace },
  { rules: [{ filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x shop'] } }] }] },
);

async function applied(object: object): Promise<Outcome> {
  return kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(object) });
}

/** The same for what new definitions allow, once the API server, which follows them at its own pace, takes it. */
async function taken(object: object): Promise<Outcome> {
  return waitFor('the API server takes it', async () => {
    const outcome = await applied(object);
    return outcome.code === 0 ? outcome : undefined;
  });
}

describe('without CRDs', () => {
  test('the webhook is ready, and judges nothing by a schema', async () => {
    expect(await inForce()).toEqual(nothing);
    expect(
      await kubectlOutput([
        'get',
        'pods',
        '-n',
        systemNamespace,
        '-o',
        'jsonpath={.items[*].status.containerStatuses[*].ready}',
      ]),
    ).toBe('true true true');
    expect(await failurePolicy()).toBe('Ignore');
  });

  test('a review is answered; what contradicts a guess is only told', async () => {
    const { allowed, warnings } = await review(gateway(17), 'gateways');
    expect([allowed, warnings?.[0]]).toEqual([
      true,
      expect.stringMatching(/^\[schema\] spec\.infrastructure\.annotations: .*16/),
    ]);
  });

  test('the doctor misses them, and nothing else', async () => {
    const absent = { exitCode: 1, wrong: { 'crds-installed': 'fail', 'webhook-reachable': 'warn' } };
    expect(await diagnosisAfter(absent)).toEqual(absent);
  });
});

describe('v1.5.1, installed later', () => {
  test('is in force without a restart', async () => {
    await installCrds('v1.5.1', 'standard');
    expect(await inForceAfter(old)).toEqual(old);
    await waitForFailurePolicy('Fail');
    expect(await applied(bad)).toMatchObject({ code: 1, stderr: expect.stringContaining('[header-name-not-token]') });
  });

  test('is what objects are held against', async () => {
    expect(await review(gateway(9), 'gateways')).toMatchObject({
      allowed: false,
      status: { message: expect.stringMatching(/spec\.infrastructure\.annotations: .*8/) },
    });
    expect(await review(retrying, 'httproutes')).toMatchObject({
      allowed: true,
      warnings: expect.arrayContaining([unknownField]),
    });
    expect(await applied(gateway(8))).toMatchObject({ code: 0, stderr: expect.not.stringContaining('[schema') });
  });
});

test('of mixed bundles each kind is held against its own', async () => {
  const mixed = old.map((judged) => ({ ...judged, HTTPRoute: '1.7 standard' }));
  await apply(...crds('v1.7.0').filter(({ spec }) => spec.names.kind === 'HTTPRoute'));
  expect(await inForceAfter(mixed)).toEqual(mixed);
  expect(await review(gateway(9), 'gateways')).toMatchObject({ allowed: false });
  expect((await review(retrying, 'httproutes')).warnings).not.toContainEqual(expect.stringContaining('[schema'));
  const confused = { exitCode: 1, wrong: { 'crds-bundle': 'fail' } };
  expect(await diagnosisAfter(confused)).toEqual(confused);
});

describe('v1.7.0, over v1.5.1', () => {
  test('is in force without a restart', async () => {
    await installCrds('v1.7.0', 'standard');
    expect(await inForceAfter(current)).toEqual(current);
  });

  test('is what objects are held against, those that were stored before, too', async () => {
    expect((await taken(gateway(16))).stderr).not.toContain('[schema');
    expect(await review(gateway(17), 'gateways')).toMatchObject({
      allowed: false,
      status: { message: expect.stringMatching(/spec\.infrastructure\.annotations: .*16/) },
    });
    expect((await taken(retrying)).stderr).not.toContain('[schema');
  });

  test('stays: its own policy refuses an older bundle', async () => {
    const older = crds('v1.5.1')
      .map((crd) => JSON.stringify(crd))
      .join('\n---\n');
    // A policy that was just installed is in force a moment later.
    await waitFor(
      'the policy refuses',
      async () =>
        (await kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], { stdin: older })).code !== 0 ||
        undefined,
    );
    await expect(apply(...crds('v1.5.1'))).rejects.toThrow(
      'Installing CRDs with version before v1.7.0 is prohibited by default',
    );
    expect(await inForce()).toEqual(current);
  });

  test('is a part of itself while a kind is missing, and whole again afterwards', async () => {
    const withoutGrpc = current.map((judged) =>
      Object.fromEntries(Object.entries(judged).filter(([kind]) => kind !== 'GRPCRoute')),
    );
    await kubectlOutput(['delete', 'crd', `grpcroutes.${group}`]);
    expect(await inForceAfter(withoutGrpc)).toEqual(withoutGrpc);
    await waitUntilReady();
    const partial = { exitCode: 0, wrong: { 'crds-installed': 'warn' } };
    expect(await diagnosisAfter(partial)).toEqual(partial);
    expect(await applied(bad)).toMatchObject({ code: 1, stderr: expect.stringContaining('[header-name-not-token]') });
    await apply(...crds('v1.7.0').filter(({ spec }) => spec.names.kind === 'GRPCRoute'));
    expect(await inForceAfter(current)).toEqual(current);
    expect(await diagnosisAfter(inOrder)).toEqual(inOrder);
  });
});

describe('CRDs that are not what they say', () => {
  const changed = current.map((judged) => ({ ...judged, Gateway: '1.7 standard?' }));

  test('are recognised by their schema: no annotations, false ones, and a changed schema', async () => {
    // The policy would refuse them, where it is installed.
    await kubectlOutput([
      'delete',
      'validatingadmissionpolicybinding,validatingadmissionpolicy',
      `safe-upgrades.${group}`,
    ]);
    await waitFor(
      'the policy is gone',
      () => kubectlOutput(['annotate', 'crd', `httproutes.${group}`, `${group}/bundle-version-`, `${group}/channel-`]),
      policyPatience,
    );
    await kubectlOutput([
      'annotate',
      '--overwrite',
      'crd',
      `grpcroutes.${group}`,
      `${group}/bundle-version=v1.4.1`,
      `${group}/channel=experimental`,
    ]);
    // Definitions are read in the order of their changes: when this one is in force, the others are read.
    const place =
      '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/infrastructure/properties/annotations/maxProperties';
    await kubectlOutput([
      'patch',
      'crd',
      `gateways.${group}`,
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'replace', path: place, value: 32 }]),
    ]);
    expect(await inForceAfter(changed)).toEqual(changed);
    const wrong = { exitCode: 1, wrong: { 'crds-bundle': 'fail', 'crds-channel': 'warn', 'crds-schema': 'warn' } };
    expect(await diagnosisAfter(wrong)).toEqual(wrong);
  });

  test('what only contradicts the schema that was is told, and admitted', async () => {
    expect((await taken(gateway(17))).stderr).toMatch(/^Warning: \[schema\] spec\.infrastructure\.annotations: .*16/);
    expect(await applied(bad)).toMatchObject({ code: 1, stderr: expect.stringContaining('[header-name-not-token]') });
  });

  test('are in order again once the bundle is applied by force', async () => {
    await kubectlOutput(['apply', '--server-side', '--force-conflicts', '-f', '-'], {
      stdin: crdManifests('v1.7.0', 'standard'),
    });
    expect(await inForceAfter(current)).toEqual(current);
    expect(await diagnosisAfter(inOrder)).toEqual(inOrder);
  });
});

describe('CRDs that go', () => {
  test('leave the webhook ready, and failurePolicy as it is', async () => {
    await removeCrds();
    expect(await inForceAfter(nothing)).toEqual(nothing);
    await waitUntilReady();
    expect(await failurePolicy()).toBe('Fail');
    expect(await review(bad, 'httproutes')).toMatchObject({ allowed: false });
  });

  test('are judged again when they come back, as copies without annotations, and their objects are forgotten', async () => {
    // This group is protected: a definition without the annotation of its approval is not served.
    const approval = 'api-approved.kubernetes.io';
    await apply(
      ...crds('v1.7.0').map((crd) => ({
        ...crd,
        metadata: { name: crd.metadata.name, annotations: { [approval]: crd.metadata.annotations[approval] } },
      })),
    );
    await kubectlOutput(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    expect(await inForceAfter(current)).toEqual(current);
    expect(await applied(bad)).toMatchObject({ code: 1, stderr: expect.stringContaining('[header-name-not-token]') });
    const orphan = httpRoute({ name: 'orphan', namespace }, { parentRefs: [{ name: 'front' }] });
    // The webhook lists Gateways a moment after it has read their definition. Until then, it does not report one as not found.
    const warned = await waitFor('the webhook reads Gateways', async () => {
      const outcome = await kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], {
        stdin: JSON.stringify(orphan),
      });
      return outcome.stderr.includes('[parent-not-found]') ? outcome : undefined;
    });
    expect(warned).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`[parent-not-found] spec.parentRefs[0]: Gateway "${namespace}/front" not found`),
    });
  });

  test('were logged once for each change', async () => {
    const changes = new Set(['bundle in force', 'kind is no longer installed']);
    const lines = (await webhookLogs())
      .flatMap((log) => log.split('\n'))
      .filter((line) => line.includes('"kind":"HTTPRoute"'));
    const told = lines
      .map((line) => JSON.parse(line) as { readonly msg: string; readonly bundle?: string })
      .filter(({ msg }) => changes.has(msg));
    const once = [
      ['bundle in force', '1.5'],
      ['bundle in force', '1.7'],
      ['kind is no longer installed', undefined],
      ['bundle in force', '1.7'],
    ];
    expect(told.map(({ msg, bundle }) => [msg, bundle])).toEqual([...once, ...once]);
  });
});

test('no pod of the webhook ever crashed or was replaced', async () => {
  expect(await webhookPods()).toEqual(pods);
  expect(pods.map(({ restarts }) => restarts)).toEqual([0, 0]);
});

test('the doctor is content in the end with all but the CRDs, which name no bundle', async () => {
  const unnamed = { exitCode: 0, wrong: { 'crds-bundle': 'warn', 'crds-channel': 'warn', 'crds-schema': 'warn' } };
  expect(await diagnosisAfter(unnamed)).toEqual(unnamed);
});
