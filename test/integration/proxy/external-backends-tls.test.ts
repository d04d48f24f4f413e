import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../src/certificates/index.ts';
import type { EndpointsConfig } from '../../../src/core/routing/config.ts';
import { closeBackends, startNegotiatingBackend, startSecureHttp1Backend } from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { closeProxies, routeTo, send, startProxy } from '../../support/proxy.ts';

const name = 'api.partner.example';
let authority: Authority;

beforeAll(async () => {
  authority = await createAuthority();
});
afterEach(closeProxies);
afterEach(closeBackends);

/** A backend with HTTP/2 and HTTP/1.1, which prefers HTTP/2, and answers with what it saw. */
async function startBackend(): Promise<number> {
  const options = { ...(await issueLeaf(authority, { dnsNames: [name] })), ca: authority.certificate };
  const { port } = await startNegotiatingBackend(
    { ...options, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const serial = socket.getPeerX509Certificate()?.serialNumber;
      response.end(JSON.stringify({ version: request.httpVersion, client: socket.authorized, serial }));
    },
  );
  return port;
}

function external(port: number, parts: Partial<EndpointsConfig>): EndpointsConfig {
  return {
    ...endpointsConfig('app'),
    external: { hostname: name, port },
    tls: { serverName: name, subjectAltNames: [], authorities: [authority.certificate], clientCertificate: 'none' },
    ...parts,
  };
}

type Leaf = Awaited<ReturnType<typeof issueLeaf>>;

/** `certificates` is as in the data plane. By default, the Gateway has a client certificate that the backend trusts. */
async function start(endpoints: EndpointsConfig, certificates?: (secret: string) => Leaf | undefined): Promise<number> {
  const identity = await issueLeaf(authority, {});
  const { port } = await startProxy(
    [listenerConfig('web', { backendCertificate: 'infra/identity' }), endpoints, routeTo('app')],
    {
      certificates: certificates ?? (() => identity),
      lookup: { lookup: () => Promise.resolve({ addresses: ['127.0.0.1'], validFor: 60_000 }), close: () => undefined },
      internalBackendNetworks: [{ first: 0xffff_7f00_0001n, last: 0xffff_7f00_0001n }],
      limits: { namePreparation: 5_000 },
    },
  );
  return port;
}

test.each<[EndpointsConfig['protocol'], string]>([
  [undefined, '2.0'],
  ['h2', '2.0'],
  ['http/1.1', '1.1'],
])('protocol %s uses HTTP/%s, without the client certificate of the Gateway', async (protocol, version) => {
  const backend = await startBackend();
  const port = await start(external(backend, protocol === undefined ? {} : { protocol }));
  const answer = await send(port, '/');
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body)).toEqual({ version, client: false });
});

test('a backend without the required version gets no request', async () => {
  const backend = await startSecureHttp1Backend(await issueLeaf(authority, { dnsNames: [name] }));
  const port = await start(external(backend.port, { protocol: 'h2' }));
  expect((await send(port, '/')).status).toBe(503);
});

test('a backend with a certificate for another name gets no request', async () => {
  const backend = await startBackend();
  const tls = { serverName: 'other.example', subjectAltNames: [], authorities: [authority.certificate] };
  const port = await start(external(backend, { tls }));
  expect((await send(port, '/')).status).toBe(503);
});

const secret = 'shop/partner-client';

/** A proxy whose Gateway has a client certificate that the backend does not trust. `own` reads that of the XBackend. */
async function startMutual(backend: number, own: () => Leaf | undefined): Promise<number> {
  const foreign = await issueLeaf(await createAuthority(), {});
  return await start(
    external(backend, {
      tls: {
        serverName: name,
        subjectAltNames: [],
        authorities: [authority.certificate],
        clientCertificate: { secret },
      },
    }),
    (named) => (named === secret ? own() : foreign),
  );
}

test('a backend with a client certificate of its own gets that one, and the next after a change', async () => {
  const backend = await startBackend();
  let own = await issueLeaf(authority, {});
  const port = await startMutual(backend, () => own);
  expect(JSON.parse((await send(port, '/')).body)).toEqual({ version: '2.0', client: true, serial: serialOf(own) });
  own = await issueLeaf(authority, {});
  expect(JSON.parse((await send(port, '/')).body)).toEqual({ version: '2.0', client: true, serial: serialOf(own) });
});

test('a backend whose client certificate has not arrived gets no request until it does', async () => {
  const backend = await startBackend();
  let own: Leaf | undefined;
  const port = await startMutual(backend, () => own);
  expect((await send(port, '/')).status).toBe(503);
  own = await issueLeaf(authority, {});
  expect(JSON.parse((await send(port, '/')).body)).toMatchObject({ client: true, serial: serialOf(own) });
  own = undefined;
  expect((await send(port, '/')).status).toBe(503);
});

function serialOf({ cert }: Leaf): string {
  return new X509Certificate(cert).serialNumber;
}
