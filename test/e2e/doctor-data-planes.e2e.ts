import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram } from '../support/program.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, leader, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute, service } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// The doctor of a cluster with the controller alone.
const namespace = useNamespace('doctor');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  await apply(gateway('web', namespace, 80));
  await waitForGateway('web', namespace, ['Programmed', 'True']);
});

afterAll(async () => {
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

interface Verdict {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
}

async function verdicts(...args: readonly string[]): Promise<readonly Verdict[]> {
  const program = startProgram('doctor', '-o', 'json', ...args);
  await program.ended();
  return (JSON.parse(program.output()) as { readonly verdicts: readonly Verdict[] }).verdicts;
}

/** Waits until a check has a verdict with this text. */
function verdict(check: string, text: string): Promise<Verdict> {
  return waitFor(`${check}: ${text}`, async () =>
    (await verdicts()).find((each) => each.check === check && each.message.includes(text)),
  );
}

test('is content, and knows leader and data planes', async () => {
  const found = await waitFor('no problem', async () => {
    const all = await verdicts();
    return all.some(({ status }) => status !== 'ok') ? undefined : all;
  });
  const messages = Object.fromEntries(found.map(({ check, message }) => [check, message]));
  expect(messages['webhook-configuration']).toContain('not installed');
  expect(messages['controller']).toContain('2 of 2 pods are ready');
  expect(messages['controller-leader']).toBe(`${await leader()} leads`);
  expect(messages['data-planes']).toContain('have acknowledged the newest generation');
});

test('finds a Service without endpoints behind a route', async () => {
  await apply(
    service(namespace, 'cart'),
    httpRoute(
      { name: 'cart', namespace },
      {
        parentRefs: [{ name: 'web' }],
        rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
      },
    ),
  );
  expect(await verdict('backends', `${namespace}/cart:80`)).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(`HTTPRoute ${namespace}/cart`),
  });
  await kubectlOutput(['delete', 'httproute', 'cart', '-n', namespace]);
});

test('finds a data plane that cannot be provisioned', async () => {
  await kubectlOutput(['create', 'quota', 'few', '-n', namespace, '--hard=pods=1']);
  await apply(gateway('late', namespace, 81));
  expect(await verdict('data-planes', 'exceeded quota: few')).toMatchObject({ status: 'fail' });
  expect(await verdict('gateways', 'NoResources')).toMatchObject({ status: 'fail' });
  await kubectlOutput(['delete', 'quota', 'few', '-n', namespace]);
  await waitForGateway('late', namespace, ['Programmed', 'True']);
});

test('tells what it may not read, and does not call it healthy', async () => {
  const raw = await kubectlOutput(['config', 'view', '--raw', '--minify', '-o', 'json']);
  const token = (await kubectlOutput(['create', 'token', 'default', '-n', namespace])).trim();
  const config = JSON.parse(raw) as { readonly users: readonly { readonly name: string }[] };
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-doctor-'));
  try {
    await writeFile(join(folder, 'config'), JSON.stringify({ ...config, users }), { mode: 0o600 });
    const found = await verdicts('--kubeconfig', join(folder, 'config'));
    expect(found.find(({ check }) => check === 'controller')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('cannot list pods'),
    });
    expect(found.filter(({ check }) => check === 'data-planes' || check === 'gateways')).toEqual([
      expect.objectContaining({
        check: 'gateways',
        status: 'warn',
        message: expect.stringContaining('unknown which Gateways the controller serves'),
      }),
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('finds that nobody leads', async () => {
  await kubectlOutput(['scale', 'deployment/sallyport-controller', '-n', 'sallyport-system', '--replicas=0']);
  expect(await verdict('controller-leader', 'statuses are not updated')).toMatchObject({ status: 'fail' });
  await kubectlOutput(['scale', 'deployment/sallyport-controller', '-n', 'sallyport-system', '--replicas=2']);
  await verdict('controller-leader', 'leads');
});
