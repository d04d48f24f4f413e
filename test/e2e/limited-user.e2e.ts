import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram } from '../support/program.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute, service } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// The commands as users whose permissions end at a namespace: a ServiceAccount with a Role there, and nothing else.
const team = useNamespace('limited-team');
const other = useNamespace('limited-other');
const gatewayClass = 'limited';
const read = ['get', 'list'];

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string }[];
}

let folder: string;
/** May read everything in the namespace of the team. */
let developer: string;
/** May read everything there except for Services. */
let withoutServices: string;

/** The account, and the Role that gives it these permissions. */
function accountWith(name: string, rules: readonly object[]): readonly object[] {
  const metadata = { name, namespace: team };
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: team }],
    },
  ];
}

/** Writes a kubeconfig with a token of the account, for the cluster of this process. */
async function kubeconfigOf(account: string): Promise<string> {
  const token = (await kubectlOutput(['create', 'token', account, '-n', team])).trim();
  const present = JSON.parse(
    await kubectlOutput(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']),
  ) as Kubeconfig;
  const [cluster] = present.clusters;
  const path = join(folder, `${account}.json`);
  await writeFile(
    path,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: present.clusters,
      users: [{ name: account, user: { token } }],
      contexts: [{ name: account, context: { cluster: cluster?.name, user: account } }],
      'current-context': account,
    }),
    { mode: 0o600 },
  );
  return path;
}

function routeTo(name: string, path: string, backend: object): object {
  const matches = [{ path: { type: 'PathPrefix', value: path } }];
  return httpRoute(
    { name, namespace: team },
    {
      parentRefs: [{ name: 'web' }],
      hostnames: ['limited.example.com'],
      rules: [{ matches, backendRefs: [{ port: 80, ...backend }] }],
    },
  );
}

/** Whether the account may list a resource in the namespace of the team, by the API server. */
async function mayList(kubeconfig: string, resource: string): Promise<boolean> {
  const { stdout } = await kubectl(['auth', 'can-i', 'list', resource, '-n', team], {
    environment: { KUBECONFIG: kubeconfig },
  });
  return stdout.trim() === 'yes';
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-limited-'));
  await installCrds('v1.7.0', 'standard');
  await apply(
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: gatewayClass },
      spec: { controllerName: 'sallyport.dev/gateway-controller' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: team },
      spec: { gatewayClassName: gatewayClass, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
    service(team, 'cart'),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'cart', namespace: team, labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints: [{ addresses: ['10.77.0.9'], conditions: { ready: true } }],
    },
    service(other, 'api'),
    routeTo('shop', '/', { name: 'cart' }),
    routeTo('lost', '/lost', { name: 'lost' }),
    routeTo('far', '/far', { name: 'api', namespace: other }),
    ...accountWith('developer', [{ apiGroups: ['*'], resources: ['*'], verbs: read }]),
    ...accountWith('without-services', [
      { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: read },
      {
        apiGroups: ['gateway.networking.k8s.io', 'gateway.networking.x-k8s.io', 'discovery.k8s.io'],
        resources: ['*'],
        verbs: read,
      },
    ]),
  );
  developer = await kubeconfigOf('developer');
  withoutServices = await kubeconfigOf('without-services');
  // The authorizer of the API server reads the new Roles from its cache.
  await waitFor('the Roles apply', async () =>
    (await mayList(developer, 'services')) && (await mayList(withoutServices, 'endpointslices.discovery.k8s.io'))
      ? true
      : undefined,
  );
});

afterAll(async () => {
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', team]);
  await kubectl(['delete', 'gatewayclass', gatewayClass]);
  await removeCrds();
  await rm(folder, { recursive: true });
});

async function run(kubeconfig: string, command: string, ...args: readonly string[]): Promise<Outcome> {
  const program = startProgram(command, '--cluster', '--kubeconfig', kubeconfig, '-n', team, ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

const site = 'http://limited.example.com';

describe('a user who may read everything in one namespace', () => {
  test.each([['check'], ['audit']])('%s judges the references within the namespace only', async (command) => {
    const { output, errors } = await run(developer, command);
    expect(output).toContain(`Service "${team}/lost" not found`);
    expect(output).not.toContain(other);
    expect(errors).toContain('CustomResourceDefinitions are not observed');
    expect(errors).toMatch(
      new RegExp(`^Objects of the kinds .*Service.* are observed only in namespace "${team}"`, 'm'),
    );
  });

  test('explain answers for the backends of the namespace', async () => {
    const served = await run(developer, 'explain', `${site}/`);
    expect(served.output).toContain(`1 of 1 to ${team}/cart/80: 10.77.0.9:8080`);
    expect(served.code).toBe(0);
    expect((await run(developer, 'explain', `${site}/lost`)).output).toContain('1 of 1 answered 500: BackendNotFound');
  });

  test('explain does not answer for a backend of another namespace', async () => {
    const { code, output } = await run(developer, 'explain', `${site}/far`);
    expect(output).toContain(
      `1 of 1 unknown: objects of kind ReferenceGrant in namespace "${other}" are not observed (no permission)`,
    );
    expect(output).not.toContain('500');
    expect(code).toBe(1);
  });

  test('impact finds out what breaks in the namespace', async () => {
    const { code, output } = await run(developer, 'impact', '--delete', 'service/cart');
    expect(output).toMatch(/^Breaks$/m);
    expect(output).toContain(`GET ${site}/ at Gateway ${team}/web`);
    expect(code).toBe(1);
  });

  test('preflight does not say to upgrade', async () => {
    const { output, errors } = await run(developer, 'preflight', '--to', 'v1.7.0');
    expect(output).toContain('The CRDs are not observed: User "system:serviceaccount:');
    expect(output).toContain('Not everything is observed');
    expect(output).not.toMatch(/then upgrade|kubectl apply/);
    expect(errors.match(/are observed only in namespace/g)).toHaveLength(1);
  });
});

test('doctor judges the objects of the namespace, and reports once what it may not read', async () => {
  const program = startProgram('doctor', '--kubeconfig', developer, '-n', team);
  expect(await program.ended()).toBe(0);
  const output = program.output();
  expect(output).toMatch(
    new RegExp(`^warn objects: Objects of the kinds .*HTTPRoute.* are observed only in namespace "${team}"`, 'm'),
  );
  expect(output.match(/^warn crds-installed: cannot list CRDs: /gm)).toHaveLength(1);
  expect(output).toMatch(
    new RegExp(`^warn objects: Objects of the kinds .*Pod, Deployment.* are observed only in namespace "${team}"`, 'm'),
  );
  expect(output).not.toMatch(/^ok +controller: not installed/m);
  expect(output).toMatch(/^warn gateways: unknown which Gateways the controller serves/m);
  expect(output).not.toMatch(/^fail/m);
});

describe('a user who may not read Services', () => {
  const unknown = `unknown: objects of kind Service in namespace "${team}" are not observed (no permission)`;

  test('the API server says so', async () => {
    expect(await mayList(withoutServices, 'services')).toBe(false);
  });

  test('explain does not know the answer', async () => {
    const { code, output } = await run(withoutServices, 'explain', `${site}/`);
    expect(output).toContain(`1 of 1 ${unknown}`);
    expect(output).not.toMatch(/500|unobserved/);
    expect(code).toBe(1);
  });

  test.each([['check'], ['audit']])('%s does not judge references to Services', async (command) => {
    expect((await run(withoutServices, command)).output).not.toContain('not found');
  });

  test('impact claims no response', async () => {
    const { code, output } = await run(withoutServices, 'impact', '--delete', 'httproute/shop');
    expect(output).toContain(unknown);
    expect(output).not.toMatch(/before: .*500/);
    expect(code).toBe(0);
  });
});

test('the commands have changed nothing', async () => {
  const { items } = await getObject<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>([
    'httproute',
    '-n',
    team,
  ]);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['far', 'lost', 'shop']);
});
