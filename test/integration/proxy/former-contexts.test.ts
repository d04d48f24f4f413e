import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { createAuthority } from '../../../src/certificates/index.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, routeTo, send, startProxy } from '../../support/proxy.ts';

afterEach(closeProxies);

// 902 changes of 100 CA certificates of a backend whose responses did not end took 723 MiB.
test('connections to a backend whose CA certificates were replaced long ago are closed', async () => {
  const authority = await createAuthority();
  const serverName = 'app.example.com';
  const backend = createServer(await issueLeaf(authority, { dnsNames: [serverName] }), (socket) =>
    socket.on('error', () => undefined).once('data', () => socket.emit('request')),
  ).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const { port: backendPort } = backend.address() as AddressInfo;
  const { certificate } = authority;
  const changed = (index: number) => ({
    ...endpointsConfig('app', backendPort),
    tls: {
      serverName,
      subjectAltNames: [],
      // Half of the memory of all former contexts with a few changes.
      authorities: [`${certificate}${'\n'.repeat(index)}`, ...Array<string>(999).fill(certificate)],
    },
  });
  const { port, apply, proxy } = await startProxy([changed(0), routeTo('app')]);
  const statuses = Array<number | undefined>(20).fill(undefined);
  for (let index = 0; index < 20; index += 1) {
    await apply(changed(index));
    const arrived = once(backend, 'secureConnection');
    void send(port, '/')
      .then(({ status }) => (statuses[index] = status))
      .catch(() => undefined);
    const [socket] = await arrived;
    await once(socket, 'request');
  }
  await eventually(() => expect(statuses.slice(0, 5)).toEqual(Array(5).fill(502)));
  expect(statuses.slice(-4)).toEqual(Array(4).fill(undefined));
  expect(proxy.counters().limitsReached['former-certificates']).toBeGreaterThan(0);
  await closeProxies();
  backend.close();
});
