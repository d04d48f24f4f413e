import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leases } from '../../../src/kubernetes/lease-record.ts';
import { pathOf } from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { kubernetesStage, seed } from '../../support/kubernetes.ts';
import { freePort, startProgram } from '../../support/program.ts';
import { until } from '../../support/until.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-webhook-'));
  await writeFile(join(folder, 'bad.yaml'), 'profile: strict\nfailurepolicy: Fail\n');
  await writeFile(join(folder, 'good.yaml'), 'profile: strict\n');
});

afterAll(() => rm(folder, { recursive: true }));

/** Writes a kubeconfig for a fake API server. */
async function kubeconfigOf(server: string): Promise<string> {
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
      'current-context': 'fake',
    }),
  );
  return kubeconfig;
}

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

/** Runs the program until it ends by itself. */
function run(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, NODE_OPTIONS: '', KUBECONFIG: join(folder, 'no-kubeconfig') };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'src/main.ts', 'webhook', '--port=0', '--probe-port=0', ...args],
      { env },
      (_error, _stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stderr });
      },
    );
  });
}

describe('a webhook that cannot start says why, without a stack', () => {
  test('mistakes in the settings', async () => {
    const { code, stderr } = await run(`--settings=${join(folder, 'bad.yaml')}`);
    expect(stderr).toBe(
      `sallyport: invalid settings file:\n  ${join(folder, 'bad.yaml')}:2:1: failurepolicy: unknown setting. Did you mean failurePolicy?\n`,
    );
    expect(code).toBe(1);
  });

  test('no way to reach a cluster', async () => {
    const { code, stderr } = await run(`--settings=${join(folder, 'good.yaml')}`);
    expect(stderr).toMatch(/^sallyport: cannot use the kubeconfig: .*no-kubeconfig.*\n$/);
    expect(code).toBe(1);
  });

  test('lifetimes with which calls would fail', async () => {
    const { code, stderr } = await run(
      '--authority-lifetime=3m',
      '--certificate-lifetime=50s',
      '--propagation-time=8s',
      '--clock-skew=1s',
    );
    expect(stderr).toBe(
      'sallyport: cannot use these certificate lifetimes: an authority must live more than 180 s with these certificates: 3 × (certificate lifetime + propagation time + 2 × clock skew)\n',
    );
    expect(code).toBe(1);
  });

  test('a lifetime that is no duration', async () => {
    const { code, stderr } = await run('--authority-lifetime=365d');
    expect(stderr).toContain('argument \'365d\' is invalid. The unit "d" is larger than an hour. Use "8760h".');
    expect(code).toBe(1);
  });

  test('a certificate without its key', async () => {
    const { code, stderr } = await run('--certificate-file=tls.crt');
    expect(stderr).toBe('sallyport: --certificate-file and --private-key-file require each other: use both or none\n');
    expect(code).toBe(1);
  });
});

test('a webhook that stops gives its lease to another replica while it still serves', async () => {
  const stage = await kubernetesStage();
  const kubeconfig = await kubeconfigOf(stage.server.url);
  const probePort = await freePort();
  process.env['KUBECONFIG'] = kubeconfig;
  const program = startProgram(
    'webhook',
    '--port=0',
    `--probe-port=${probePort}`,
    '--namespace=default',
    '--identity=first',
    '--drain=600',
  );
  const holder = async (): Promise<unknown> => {
    const lease = (await stage.client.request({
      path: pathOf(leases, { namespace: 'default', name: 'sallyport-webhook' }),
    })) as { readonly spec: { readonly holderIdentity?: string } };
    return lease.spec.holderIdentity;
  };
  const reasons = async (): Promise<string> => (await fetch(`http://127.0.0.1:${probePort}/readyz`)).text();
  try {
    await until(async () => expect(await reasons()).not.toContain('starting'));
    expect(await holder()).toBe('first');
    void program.stop('SIGTERM');
    await until(async () => expect(await holder()).toBe(''));
    expect(await reasons()).toContain('stopping');
  } finally {
    await program.stop('SIGKILL');
    await stage.close();
  }
});

test('with --audit-reports, the leader audits stored objects', async () => {
  const stage = await kubernetesStage();
  defineKind(stage, 'HTTPRoute', 'v1');
  seed(
    stage,
    { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
    {
      kind: 'HTTPRoute',
      metadata: { name: 'late', namespace: 'default' },
      spec: { rules: [{ timeouts: { request: '1.5s' } }] },
    },
  );
  process.env['KUBECONFIG'] = await kubeconfigOf(stage.server.url);
  const probePort = await freePort();
  const program = startProgram(
    'webhook',
    '--port=0',
    `--probe-port=${probePort}`,
    '--namespace=default',
    '--identity=first',
    '--drain=0',
    '--audit-reports',
  );
  try {
    await until(async () =>
      expect(await (await fetch(`http://127.0.0.1:${probePort}/metrics`)).text()).toContain(
        'sallyport_audit_findings{rule="duration-form",namespace="default",result="fail"} 1',
      ),
    );
  } finally {
    await program.stop('SIGKILL');
    await stage.close();
  }
});
