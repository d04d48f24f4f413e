import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../src/certificates/index.ts';
import type { AuthorizationFilter, BackendTls, ListenerConfig } from '../../../src/core/routing/config.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { authorizedBy, startApp } from '../../support/authorization.ts';
import { closeBackends, startNegotiatingBackend } from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, prefixRule, send, startProxy, throwFault, webRoute } from '../../support/proxy.ts';

// Authorization servers over TLS, as a BackendTLSPolicy of their Service demands.

let authority: Authority;
let stranger: Authority;
let identity: CertificatePair;

beforeAll(async () => {
  [authority, stranger] = await Promise.all([createAuthority(), createAuthority(undefined, 'stranger')]);
  identity = await issueLeaf(authority, {});
});
afterEach(closeProxies);
afterEach(closeBackends);

const grpcOk = Buffer.from('00000000020a00', 'hex');

/** Permits every request, by HTTP or gRPC, and notes what it saw of the connection. */
async function startAuthorizer(issuer: Authority, name = 'auth.shop.example') {
  const asked: { readonly version: string; readonly serverName: unknown; readonly client: boolean }[] = [];
  const options = { ...(await issueLeaf(issuer, { dnsNames: [name] })), ca: authority.certificate };
  const { port } = await startNegotiatingBackend(
    { ...options, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const isCall = request.headers['content-type'] === 'application/grpc';
      request.resume().on('end', () => {
        asked.push({ version: request.httpVersion, serverName: socket.servername, client: socket.authorized });
        if (isCall) {
          response.writeHead(200, { 'content-type': 'application/grpc' });
          response.addTrailers({ 'grpc-status': '0' });
          response.end(grpcOk);
        } else response.end();
      });
    },
  );
  return { port, asked };
}

function startSecured(
  app: number,
  server: number,
  { filter, on, tls = {} }: { filter: AuthorizationFilter; on: 'listener' | 'rule'; tls?: Partial<BackendTls> },
) {
  const policy = {
    serverName: 'auth.shop.example',
    subjectAltNames: [],
    authorities: [authority.certificate],
    ...tls,
  } satisfies BackendTls;
  const web: ListenerConfig = listenerConfig('web', {
    backendCertificate: 'infra/identity',
    ...(on === 'listener' ? { filters: [filter] } : {}),
  });
  return startProxy(
    [
      web,
      endpointsConfig('app', app),
      { ...endpointsConfig('auth', server), tls: policy },
      webRoute(prefixRule('/', on === 'rule' ? [filter] : [])),
    ],
    { onFault: throwFault, certificates: () => identity },
  );
}

describe.each(['rule', 'listener'] as const)('a filter of a %s', (on) => {
  describe.each([
    ['http', '2.0'],
    ['grpc', '2.0'],
  ] as const)('over %s and TLS', (protocol, version) => {
    const filter = authorizedBy('auth', { protocol });

    test('asks a server by the name of the policy, with the certificate of the Gateway', async () => {
      const [server, app] = [await startAuthorizer(authority), await startApp()];
      const { port } = await startSecured(app.port, server.port, { filter, on });
      expect((await send(port, '/a', { headers: { host: 'shop.example.com' } })).status).toBe(200);
      expect(app.reached).toEqual(['GET /a']);
      expect(server.asked).toEqual([{ version, serverName: 'auth.shop.example', client: true }]);
    });

    test.each<[string, () => Promise<{ readonly port: number; readonly asked: readonly unknown[] }>]>([
      ['another authority', () => startAuthorizer(stranger)],
      ['another name', () => startAuthorizer(authority, 'other.shop.example')],
    ])('permits nothing where the certificate has %s', async (_name, start) => {
      const [server, app] = [await start(), await startApp()];
      const { port, log } = await startSecured(app.port, server.port, { filter, on });
      expect((await send(port, '/')).status).toBe(503);
      expect([server.asked, app.reached]).toEqual([[], []]);
      await eventually(() => expect(log).toMatchObject([{ reason: 'authorization-unavailable' }]));
    });
  });
});
