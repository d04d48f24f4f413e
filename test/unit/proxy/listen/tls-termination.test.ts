import { createHash } from 'node:crypto';
import { duplexPair } from 'node:stream';
import type { Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../../src/certificates/index.ts';
import type { ClientValidation } from '../../../../src/core/routing/config.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import {
  Identities,
  type CertificatePair,
  type ListenerCertificates,
} from '../../../../src/proxy/listen/identities.ts';
import { TlsTermination } from '../../../../src/proxy/listen/tls-termination.ts';
import { issueLeaf } from '../../../support/certificates.ts';

const name = 'shop.example.com';
let servers: Authority;
let clients: Authority;
let serving: CertificatePair;
let client: CertificatePair;
let stranger: CertificatePair;

beforeAll(async () => {
  [servers, clients] = await Promise.all([createAuthority(), createAuthority(undefined, 'clients')]);
  [serving, client, stranger] = await Promise.all([
    issueLeaf(servers, { dnsNames: [name] }),
    issueLeaf(clients, {}),
    issueLeaf(servers, {}),
  ]);
});

const validation = (mode: ClientValidation['mode'] = 'AllowValidOnly'): ClientValidation => ({
  authorities: [clients.certificate],
  mode,
});

/** A termination of one listener, without sockets: `handshake` tells how the server took a client. */
function terminate() {
  const outcomes: PromiseWithResolvers<'accepted' | 'failed'>[] = [];
  let created = 0;
  let contextFor: ListenerCertificates['contextFor'] = () => undefined;
  const termination = new TlsTermination(defaultLimits, {
    negotiation: { ALPNProtocols: ['h2', 'http/1.1'] },
    contextFor: (serverName) => contextFor(serverName),
    accepted(socket) {
      outcomes.shift()?.resolve('accepted');
      socket.destroy();
    },
    failed: () => outcomes.shift()?.resolve('failed'),
    replaced: () => undefined,
    // Each server of Node asks for its keys once.
    ticketKeys: (clientValidation) => {
      created += 1;
      return createHash('sha384').update(clientValidation).digest();
    },
  });
  return {
    created: () => created,
    configure: (clientValidation?: ClientValidation): void => {
      const loaded = new Identities(() => serving).of({
        certificates: ['shop/shop'],
        ...(clientValidation && { clientValidation }),
      });
      contextFor = (serverName) => loaded.contextFor(serverName);
      termination.configure(loaded.first, clientValidation);
    },
    handshake: (options: ConnectionOptions = {}): Promise<'accepted' | 'failed'> => {
      const outcome = Promise.withResolvers<'accepted' | 'failed'>();
      outcomes.push(outcome);
      const [near, far] = duplexPair();
      termination.accept(far as Socket);
      connect({ socket: near, servername: name, ca: servers.certificate, ...options }).on('error', () => undefined);
      return outcome.promise;
    },
  };
}

const anonymous = { servername: '', checkServerIdentity: () => undefined };

describe('a listener that changes while it serves', () => {
  test.each([
    ['with', {}],
    ['without', anonymous],
  ])('requires certificates from the next connection on, %s a server name', async (_, options) => {
    const { configure, handshake } = terminate();
    configure();
    expect(await handshake(options)).toBe('accepted');
    configure(validation());
    expect(await handshake(options)).toBe('failed');
    expect(await handshake({ ...options, ...stranger })).toBe('failed');
    expect(await handshake({ ...options, ...client })).toBe('accepted');
  });

  test('requires certificates where it allowed others before', async () => {
    const { configure, handshake } = terminate();
    configure(validation('AllowInsecureFallback'));
    expect(await handshake()).toBe('accepted');
    expect(await handshake(stranger)).toBe('accepted');
    configure(validation());
    expect(await handshake()).toBe('failed');
    expect(await handshake(stranger)).toBe('failed');
  });

  test('requires certificates no more', async () => {
    const { configure, handshake } = terminate();
    configure(validation());
    expect(await handshake()).toBe('failed');
    configure();
    expect(await handshake()).toBe('accepted');
  });

  test('still requires certificates after it was configured in the same way again', async () => {
    const { configure, handshake } = terminate();
    configure(validation());
    configure(validation());
    expect(await handshake()).toBe('failed');
    expect(await handshake(client)).toBe('accepted');
  });
});

// Each change of another listener, or of a route, took the memory and time of another context.
test('a port creates a server for its first connection, and another one for other client certificates', async () => {
  const { configure, handshake, created } = terminate();
  configure();
  configure(validation());
  configure();
  expect(created()).toBe(0);
  await handshake();
  await handshake();
  expect(created()).toBe(1);
  configure(validation());
  configure(validation());
  expect(created()).toBe(1);
  await handshake();
  expect(created()).toBe(2);
});

test('certificates are loaded again only if these have changed', async () => {
  let loads = 0;
  const server = new TlsTermination(defaultLimits, {
    negotiation: {},
    contextFor: () => undefined,
    accepted: () => undefined,
    failed: () => undefined,
    replaced: () => (loads += 1),
  });
  const begin = (): void => server.accept(duplexPair()[1] as Socket);
  for (const authority of [clients, clients, servers]) {
    server.configure(serving, { authorities: [authority.certificate], mode: 'AllowValidOnly' });
    begin();
  }
  expect(loads).toBe(2);
  server.configure({ ...serving }, { authorities: [servers.certificate], mode: 'AllowValidOnly' });
  begin();
  expect(loads).toBe(3);
});

test('a server name that no listener serves fails', async () => {
  const termination = Promise.withResolvers<string>();
  const server = new TlsTermination(defaultLimits, {
    negotiation: {},
    contextFor: () => undefined,
    accepted: () => termination.resolve('accepted'),
    failed: () => termination.resolve('failed'),
    replaced: () => undefined,
  });
  server.configure(serving, undefined);
  const [near, far] = duplexPair();
  server.accept(far as Socket);
  connect({ socket: near, servername: name, ca: servers.certificate }).on('error', () => undefined);
  expect(await termination.promise).toBe('failed');
});
