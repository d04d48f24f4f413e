import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram } from '../support/program.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute, service } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// The prediction of `impact` and `explain` for a cluster, compared with the cluster itself.
const namespace = useNamespace('impact');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  await apply(gateway('web', namespace, 80), service(namespace, 'cart'));
  await apply(
    httpRoute(
      { name: 'shop', namespace },
      {
        parentRefs: [{ name: 'web' }],
        hostnames: ['shop.example.com'],
        rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
      },
    ),
  );
  await waitForGateway('web', namespace, ['Programmed', 'True']);
});

afterAll(async () => {
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

interface RouteObject {
  readonly status?: {
    readonly parents?: readonly {
      readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    }[];
  };
}

async function stateOf(type: string): Promise<string> {
  const { status } = await getObject<RouteObject>(['httproute', 'shop', '-n', namespace]);
  const condition = status?.parents?.[0]?.conditions.find((candidate) => candidate.type === type);
  return condition === undefined ? '' : `${condition.status} (${condition.reason})`;
}

async function run(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const program = startProgram(...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

test('a Service that is deleted has the predicted effect', async () => {
  await waitFor('the route is resolved', async () =>
    (await stateOf('ResolvedRefs')) === 'True (ResolvedRefs)' ? true : undefined,
  );
  const { code, output, errors } = await run(
    'impact',
    '--cluster',
    '--delete',
    `service/${namespace}/cart`,
    '-o',
    'json',
  );
  expect(errors).toBe('');
  const { statuses, routing } = JSON.parse(output) as {
    readonly statuses: readonly {
      readonly object: string;
      readonly condition: string;
      readonly after: { readonly status: string; readonly reason: string };
    }[];
    readonly routing: readonly { readonly request: string }[];
  };
  const ours = statuses.filter(({ object }) => object === `HTTPRoute ${namespace}/shop`);
  expect(ours).toHaveLength(1);
  // The backend has no ready endpoint, so requests get an error before and after; the error differs.
  expect(routing.map(({ request }) => request)).toContain('GET http://shop.example.com/');
  expect(code).toBe(1);
  await kubectlOutput(['delete', 'service', 'cart', '-n', namespace]);
  const predicted = `${ours[0]?.after.status} (${ours[0]?.after.reason})`;
  expect(predicted).toBe('False (BackendNotFound)');
  await waitFor('the prediction comes true', async () =>
    (await stateOf('ResolvedRefs')) === predicted ? true : undefined,
  );
});

test('explain reads the cluster', async () => {
  const { code, output } = await run('explain', '--cluster', '-o', 'json', 'http://shop.example.com/');
  const { outcomes } = JSON.parse(output) as {
    readonly outcomes: readonly {
      readonly gateway: string;
      readonly shares: readonly { readonly result: { readonly type: string; readonly reason: string } }[];
    }[];
  };
  expect(
    outcomes.find((outcome) => outcome.gateway === `${namespace}/web`)?.shares.map(({ result }) => result),
  ).toMatchObject([{ type: 'answer', reason: 'invalid-backend' }]);
  expect(code).toBe(1);
});

interface AuditReport {
  readonly objects: readonly {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly findings: readonly { readonly rule: string; readonly suppression?: object }[];
  }[];
  readonly comparison?: { readonly new: number; readonly gone: readonly object[] };
}

test('audit finds the route without a backend, and does not count it again in the next run', async () => {
  const first = await run('audit', '--cluster', '-o', 'json');
  expect(first.errors).toBe('');
  const { objects } = JSON.parse(first.output) as AuditReport;
  const ours = objects.filter(
    (object) => object.kind === 'HTTPRoute' && object.namespace === namespace && object.name === 'shop',
  );
  expect(ours.flatMap(({ findings }) => findings.map(({ rule }) => rule))).toContain('backend-not-found');
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-audit-'));
  try {
    const report = join(folder, 'first.json');
    await writeFile(report, first.output);
    await apply(service(namespace, 'cart'));
    const second = await run('audit', '--cluster', '--since', report, '-o', 'json');
    const { comparison } = JSON.parse(second.output) as AuditReport;
    expect(comparison).toMatchObject({ new: 0 });
    expect(JSON.stringify(comparison?.gone)).toContain('backend-not-found');
  } finally {
    await rm(folder, { recursive: true });
  }
});
