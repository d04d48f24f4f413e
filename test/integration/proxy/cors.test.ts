import { afterEach, expect, test } from '@jest/globals';
import type { CorsFilter } from '../../../src/core/routing/config.ts';
import { closeBackends, startBackend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { closeProxies, prefixRule, send, startProxy, webRoute } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const cors: CorsFilter = {
  type: 'cors',
  allowOrigins: ['https://app.example'],
  allowCredentials: false,
  allowMethods: ['PUT'],
  allowHeaders: [],
  exposeHeaders: [],
  maxAge: 5,
};
const preflight = {
  method: 'OPTIONS',
  headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT' },
};

test('preflight requests are answered without the backend, others by it', async () => {
  const seen: string[] = [];
  const { port: backend } = await startBackend((request, response) => {
    seen.push(request.method ?? '');
    response.setHeader('access-control-allow-origin', 'https://wrong.example').end('ok');
  });
  const { port } = await startProxy([endpointsConfig('app', backend), webRoute(prefixRule('/', [cors]))]);

  expect(await send(port, '/', preflight)).toMatchObject({
    status: 204,
    body: '',
    headers: {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'PUT',
      'access-control-max-age': '5',
    },
  });
  expect(await send(port, '/', { headers: { origin: 'https://app.example' } })).toMatchObject({
    status: 200,
    headers: { 'access-control-allow-origin': 'https://app.example', vary: 'Origin' },
  });
  const { headers } = await send(port, '/', { method: 'OPTIONS' });
  expect(headers).not.toHaveProperty('access-control-allow-origin');
  expect(seen).toEqual(['GET', 'OPTIONS']);
});

test('redirects can be followed across origins', async () => {
  const redirect = { type: 'redirect', statusCode: 302, hostname: 'other.example' } as const;
  const { port } = await startProxy([webRoute(prefixRule('/', [cors, redirect], { backends: [] }))]);
  expect(await send(port, '/', { headers: { origin: 'https://app.example' } })).toMatchObject({
    status: 302,
    headers: { 'access-control-allow-origin': 'https://app.example' },
  });
  expect((await send(port, '/', preflight)).status).toBe(204);
});

test('a rule that fails answers preflight requests with its failure', async () => {
  const { port } = await startProxy([webRoute(prefixRule('/', [cors], { failure: 'broken', backends: [] }))]);
  expect((await send(port, '/', preflight)).status).toBe(500);
});
