import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, validFor } from '../../src/certificates/index.ts';
import { openRaw } from '../support/proxy.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho } from './support/echo.ts';
import { apply, kubectl } from './support/kubectl.ts';
import { deployLineEcho, lineEchoPorts } from './support/line-echo.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// The parameters of the PROXY protocol in a cluster: what a load balancer in front says, and what a backend gets.
const namespace = useNamespace('proxy-protocol');
const header = 'PROXY TCP4 192.0.2.55 198.51.100.1 50000 80\r\n';
const get = 'GET / HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n';

let address: string;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  const authority = await createAuthority(validFor(1), 'backend');
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['backend'],
    ipAddresses: [],
  });
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'backend', namespace },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  });
  await Promise.all([deployEcho('shop', namespace), deployLineEcho('lines', namespace, 'backend')]);
  const { spec, ...rest } = gateway('web', namespace, 80);
  const listeners = [...spec.listeners, { name: 'lines', port: lineEchoPorts.tcp, protocol: 'TCP' }];
  await apply(
    parameters({ acceptProxyProtocol: '0.0.0.0/0, ::/0', sendProxyProtocol: 'v1' }),
    {
      ...rest,
      spec: {
        ...spec,
        listeners,
        infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'settings' } },
      },
    },
    httpRoute(
      { name: 'shop', namespace },
      { parentRefs: [{ name: 'web', sectionName: 'http-80' }], rules: [{ backendRefs: [{ name: 'shop', port: 80 }] }] },
    ),
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'TCPRoute',
      metadata: { name: 'lines', namespace },
      spec: {
        parentRefs: [{ name: 'web', sectionName: 'lines' }],
        rules: [{ backendRefs: [{ name: 'lines', port: lineEchoPorts.tcp }] }],
      },
    },
  );
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  address = status?.addresses?.[0]?.value ?? '';
});

afterAll(async () => {
  await kubectl(['delete', 'httproute,tcproute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

function parameters(data: object): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data };
}

/** Sends text to a port, and resolves with everything that comes until the connection ends, or contains `last`. */
function exchange(port: number, sent: string, last?: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = openRaw(port, address);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (last !== undefined && received.includes(last)) socket.destroy();
  });
  socket.on('close', () => resolve(received));
  socket.write(sent);
  return promise;
}

test('a backend of an HTTPRoute sees the client that the load balancer names', async () => {
  const response = await waitFor('the route is served', async () => {
    const text = await exchange(80, `${header}${get}`);
    return text.startsWith('HTTP/1.1 200') ? text : undefined;
  });
  expect(response).toMatch(/"X-Forwarded-For": \[\s*"192\.0\.2\.55"\s*\]/);
});

test('a connection without the header is closed', async () => {
  expect(await exchange(80, get)).toBe('');
});

test('a backend of a TCPRoute gets a header with that client', async () => {
  const received = await waitFor('the route is served', async () => {
    const text = await exchange(
      lineEchoPorts.tcp,
      `${header.replace(' 80\r', ` ${lineEchoPorts.tcp}\r`)}hello\n`,
      'hello\n',
    );
    return text.endsWith('hello\n') ? text : undefined;
  });
  expect(received).toMatch(
    new RegExp(`^lines \\S+ PROXY TCP4 192\\.0\\.2\\.55 \\S+ 50000 ${lineEchoPorts.tcp}\\r?\\nlines \\S+ hello\\n$`),
  );
});

test('parameters that change take effect', async () => {
  await apply(parameters({}));
  const response = await waitFor('connections without a header are served', async () => {
    const text = await exchange(80, get);
    return text === '' ? undefined : text;
  });
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
});
