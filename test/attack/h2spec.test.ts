import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { closeBackends, startBackend } from '../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../support/config.ts';
import { closeProxies, routeTo, startProxy, web } from '../support/proxy.ts';
import { routeConfig } from '../support/routes.ts';
import { findH2spec, runH2spec } from './support/h2spec.ts';
import { isFull } from './support/scale.ts';

afterEach(closeProxies);
afterEach(closeBackends);

/** Without TLS the same port speaks HTTP/1.1, and a preface that is not one of HTTP/2 begins a request of it. docs/guides/traffic.md says so. */
const failsWithoutTls = ['http2/3.5: Sends invalid connection preface'];

// A minute and Go's module proxy: `make attack` alone runs it.
const inFull = isFull ? describe : describe.skip;

inFull('h2spec, strict cases included', () => {
  test.each([
    ['without TLS', [], failsWithoutTls],
    ['over TLS', ['-t', '-k'], []],
  ])('%s: no case fails but those with a reason', async (_name, options, expected) => {
    const path = await findH2spec();
    // Not skipped in silence: whoever runs all attacks learns what is missing.
    if (path === undefined)
      throw new Error('h2spec is built from its Go module: install Go 1.21 or later (https://go.dev/dl)');
    const result = await runH2spec(path, await startTarget(), options);
    expect(result.cases).toBe(146);
    expect(result.failed).toEqual(expected);
  });
});

/** A data plane whose one port takes HTTP/1.1, h2c and TLS. */
async function startTarget(): Promise<number> {
  const { certificate, privateKey } = await issueServingCertificate(await createAuthority(), {
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const backend = await startBackend(
    (request, response) => void request.resume().on('end', () => response.end('x'.repeat(1_000))),
  );
  const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
  const attachments = [web, secure].map(({ key }) => ({ listener: key, hostnames: [''] }));
  const route = routeConfig('shop/web', { attachments, rules: routeTo('app').rules });
  const { port } = await startProxy([secure, endpointsConfig('app', backend.port), route], {
    certificates: () => ({ cert: certificate, key: privateKey }),
  });
  return port;
}
