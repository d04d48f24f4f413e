import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTarget } from '../attack/support/target.ts';
import type { Target } from '../attack/support/target.ts';
import { closeBackends, startEcho } from '../support/backends.ts';
import type { Echo } from '../support/backends.ts';
import { freePort } from '../support/program.ts';
import { fieldValues } from '../support/proxy.ts';
import { answering } from './clients/grpc.ts';
import { addressOfGateway, gateway, service } from './objects.ts';
import { hasGo, interopPrograms, oauth2Proxy } from './programs.ts';

const isPossible = hasGo();
if (!isPossible)
  process.stderr.write(
    'test/interop: the authorization servers are left out, because go is not installed (https://go.dev/dl).\n',
  );

const started: { readonly processes: ChildProcess[]; target: Target | undefined; origin: string } = {
  processes: [],
  target: undefined,
  origin: '',
};
let asked = '';

/** A Gateway with the backend `app`; this filter guards everything. */
async function startGuarded(authorization: string, serverPort: number): Promise<void> {
  await answering(serverPort);
  const app = await startEcho('app');
  started.target =
    await startTarget(`${gateway(await freePort())}${service('app', app.port)}${service('auth', serverPort)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: app, namespace: shop }
spec:
  parentRefs: [{ name: front }]
  rules:
    - filters: [{ type: ExternalAuth, externalAuth: { ${authorization}, backendRef: { name: auth, port: ${serverPort} } } }]
      backendRefs: [{ name: app, port: ${app.port} }]
`);
  const { host, port } = addressOfGateway(started.target);
  started.origin = `http://${host}:${port}`;
}

async function stopAll(): Promise<void> {
  for (const child of started.processes.splice(0)) child.kill('SIGKILL');
  await started.target?.stop();
  await closeBackends();
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${started.origin}${path}`, { headers, redirect: 'manual' });
}

(isPossible ? describe : describe.skip)('a server of go-control-plane and grpc-go', () => {
  beforeAll(async () => {
    const port = await freePort();
    const server = spawn(join(interopPrograms(), 'authorizer'), [`127.0.0.1:${port}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    server.stdout.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    started.processes.push(server);
    await startGuarded('protocol: GRPC, grpc: {}, forwardBody: { maxSize: 1000 }', port);
  }, 600_000);
  afterAll(stopAll);

  test('permits, and changes request and response', async () => {
    const response = await fetch(`${started.origin}/a?b=c`, {
      method: 'POST',
      body: 'grüße',
      headers: { authorization: 'Bearer good', 'x-user': 'mallory', 'x-group': 'own', 'x-bytes': '\xff' },
    });
    const echo = (await response.json()) as Echo;
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(echo).toMatchObject({ backend: 'app', target: '/a?b=c', body: 'grüße' });
    expect(['x-user', 'x-group', 'authorization'].map((name) => fieldValues(echo, name))).toEqual([
      ['ann'],
      ['own', 'one'],
      [],
    ]);
    expect(JSON.parse(asked.split('\n').at(-2) ?? '')).toMatchObject({
      attributes: {
        source: { address: { socketAddress: { address: '127.0.0.1' } } },
        request: {
          http: {
            method: 'POST',
            path: '/a?b=c',
            scheme: 'http',
            protocol: 'HTTP/1.1',
            size: '7',
            body: 'grüße',
            headers: { authorization: 'Bearer good', 'x-user': 'mallory', ':path': '/a?b=c', 'x-bytes': '\ufffd' },
          },
        },
      },
    });
  });

  test('denies with status, body, and every Set-Cookie', async () => {
    const response = await get('/a');
    expect([
      response.status,
      await response.text(),
      response.headers.get('www-authenticate'),
      response.headers.getSetCookie(),
    ]).toEqual([401, 'log in: ü', 'Basic realm="a"', ['a=1', 'b=2']]);
    expect((await get('/plain')).status).toBe(403);
  });

  test('permits nothing where it fails', async () => {
    expect([
      (await get('/unavailable', { authorization: 'Bearer good' })).status,
      (await get('/empty', { authorization: 'Bearer good' })).status,
    ]).toEqual([502, 502]);
  });
});

(isPossible ? describe : describe.skip)('oauth2-proxy', () => {
  beforeAll(async () => {
    const port = await freePort();
    const users = join(import.meta.dirname, 'oauth2-proxy', 'users');
    const options = [
      `--http-address=127.0.0.1:${port}`,
      '--provider=github',
      '--client-id=id',
      '--client-secret=secret',
      `--cookie-secret=${'c'.repeat(32)}`,
      '--email-domain=*',
      '--upstream=static://200',
      '--skip-provider-button=true',
      '--cookie-secure=false',
      '--reverse-proxy=true',
      '--pass-basic-auth=false',
      `--htpasswd-file=${users}`,
      '--skip-auth-route=^/public/',
      '--redirect-url=http://shop.example.com/oauth2/callback',
    ];
    started.processes.push(spawn(join(oauth2Proxy(), 'oauth2-proxy'), options, { stdio: 'ignore' }));
    await startGuarded(
      'protocol: HTTP, http: { allowedHeaders: [Cookie, X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Uri] }',
      port,
    );
  }, 600_000);
  afterAll(stopAll);

  test('sends clients without a session to log in, with its cookie', async () => {
    const response = await get('/cart?item=1');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?.*client_id=id/);
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^_oauth2_proxy_csrf/)]);
  });

  test('permits what it needs no session for, and clients that it knows', async () => {
    expect(((await (await get('/public/logo')).json()) as Echo).target).toBe('/public/logo');
    const known = await get('/cart', { authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` });
    expect(((await known.json()) as Echo).backend).toBe('app');
    const unknown = await get('/cart', { authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` });
    expect(unknown.status).toBe(302);
  });
});
