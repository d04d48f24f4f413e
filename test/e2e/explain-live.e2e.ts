import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram } from '../support/program.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho } from './support/echo.ts';
import { apply, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// The prediction of `explain` for a cluster, compared with its data planes.
const namespace = useNamespace('explain');
const url = 'http://shop.example.com/cart';

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  const filters = [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }];
  await apply(
    gateway('web', namespace, 80),
    httpRoute(
      { name: 'shop', namespace },
      {
        parentRefs: [{ name: 'web' }],
        hostnames: ['shop.example.com'],
        rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/cart' } }], filters }],
      },
    ),
  );
  await waitForGateway('web', namespace, ['Programmed', 'True']);
});

afterAll(async () => {
  await kubectl(['delete', 'secret', 'sallyport-trace', '-n', 'sallyport-system', '--ignore-not-found']);
  await kubectl(['delete', 'httproute,tcproute,udproute,tlsroute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

function explain(...args: readonly string[]) {
  return explainUrl(url, ...args);
}

async function explainUrl(...args: readonly string[]) {
  const program = startProgram('explain', '--cluster', ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

test('tells on which data planes the answer is in force', async () => {
  const { code } = await waitFor('it is in force', async () => {
    const told = await explain();
    const isInForce = told.output.includes('ready pods serve generation') && !told.output.includes('not in force');
    return isInForce ? told : undefined;
  });
  expect(code).toBe(0);
});

test('needs a key for traces', async () => {
  expect((await explain('--trace')).errors).toContain('kubectl create secret generic sallyport-trace');
});

test('sends the request through a data plane, and compares', async () => {
  await kubectlOutput([
    'create',
    'secret',
    'generic',
    'sallyport-trace',
    '-n',
    'sallyport-system',
    `--from-literal=key=${'0123456789abcdef'.repeat(4)}`,
  ]);
  // The controller gives the key to the data plane.
  const { code, output } = await waitFor('a trace', async () => {
    const told = await explain('--trace');
    return told.output.includes(': as predicted') ? told : undefined;
  });
  expect(output).toContain(`trace: status 301, HTTPRoute/${namespace}/shop rule 0 match 0: as predicted`);
  expect(code).toBe(0);
});

test('sends traces of connections and datagrams', async () => {
  const listeners = [
    { name: 'tcp', port: 5432, protocol: 'TCP' },
    { name: 'udp', port: 53, protocol: 'UDP' },
    { name: 'tls', port: 443, protocol: 'TLS', hostname: 'db.example.com', tls: { mode: 'Passthrough' } },
  ];
  const route = (kind: string, service: string, spec: object): object => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: `${kind}Route`,
    metadata: { name: 'db', namespace },
    spec: {
      parentRefs: [{ name: 'streams', sectionName: kind.toLowerCase() }],
      rules: [{ backendRefs: [{ name: service, port: service === 'app' ? 80 : 53 }] }],
      ...spec,
    },
  });
  await deployEcho('app', namespace);
  await apply(
    { ...gateway('streams', namespace), spec: { gatewayClassName: 'sallyport', listeners } },
    // Nothing answers its datagrams: a trace sends none to an endpoint.
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'dns', namespace },
      spec: { selector: { app: 'app' }, ports: [{ port: 53, targetPort: 3000, protocol: 'UDP' }] },
    },
    route('TCP', 'app', {}),
    route('UDP', 'dns', {}),
    route('TLS', 'app', { hostnames: ['db.example.com'] }),
  );
  await waitForGateway('streams', namespace, ['Programmed', 'True']);
  const traces = [
    ['tcp://streams:5432', 'TCP', 'app/80'],
    ['udp://streams:53', 'UDP', 'dns/53/UDP'],
    ['tls://db.example.com:443', 'TLS', 'app/80'],
  ] as const;
  for (const [of, kind, backend] of traces) {
    const { code, output } = await waitFor(`a trace of ${of}`, async () => {
      const told = await explainUrl(of, '--trace');
      return told.output.includes(': as predicted') ? told : undefined;
    });
    expect(output).toContain(`trace: ${kind}Route/${namespace}/db rule 0, backend ${namespace}/${backend}, endpoint `);
    expect(code).toBe(0);
  }
});

test('ends with the Secret', async () => {
  await kubectlOutput(['delete', 'secret', 'sallyport-trace', '-n', 'sallyport-system']);
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  const answer = await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`, {
    headers: { 'sallyport-trace': 'v1' },
  });
  expect(answer.headers.has('sallyport-trace')).toBe(false);
});
