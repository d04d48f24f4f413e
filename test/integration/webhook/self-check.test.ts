import { createServer, type Server } from 'node:tls';
import { connect, createServer as createRelay, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  createAuthority,
  createCertificateSource,
  issueServingCertificate,
  serviceNames,
  splitPem,
  type Authority,
  type ReplaceableSource,
} from '../../../src/certificates/index.ts';
import { startSelfCheck, type SelfCheck } from '../../../src/webhook/configuration/self-check.ts';
import { MemoryBundleStore } from '../../support/certificate-stores.ts';
import { eventually } from '../../support/eventually.ts';
import { until } from '../../support/until.ts';

let authority: Authority;
let certificates: ReplaceableSource;
let bundles: MemoryBundleStore;
let server: Server;
let check: SelfCheck;

beforeEach(async () => {
  authority = await createAuthority();
  certificates = createCertificateSource(await issueServingCertificate(authority, serviceNames('hook', 'gates')));
  bundles = new MemoryBundleStore();
  const context = () => ({ cert: certificates.current().certificate, key: certificates.current().privateKey });
  server = createServer(context());
  certificates.onChange(() => server.setSecureContext(context()));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  check = startSelfCheck({ bundles, certificates, address: { host: '127.0.0.1', port }, serverName: 'hook.gates.svc' });
});

afterEach(async () => {
  await check.stop();
  server.close();
});

function trust(...authorities: readonly Authority[]): void {
  bundles.cell.write(authorities.flatMap(({ certificate }) => splitPem(certificate)));
}

test('a replica is trusted as soon as the live configuration trusts its authority, and as long as it does', async () => {
  await eventually(() => expect(check.problem()).toBe('ValidatingWebhookConfiguration not found'));
  bundles.cell.write([]);
  await eventually(() =>
    expect(check.problem()).toMatch(/ValidatingWebhookConfiguration does not trust the serving certificate/),
  );
  trust(await createAuthority(), authority);
  await eventually(() => expect(check.problem()).toBeUndefined());
  const other = await createAuthority();
  certificates.replace(await issueServingCertificate(other, serviceNames('hook', 'gates')));
  await eventually(() => expect(check.problem()).toMatch(/does not trust/));
  trust(other);
  await eventually(() => expect(check.problem()).toBeUndefined());
});

// The API server ignores them, too (x509.CertPool.AppendCertsFromPEM).
test('invalid certificates in the live configuration do not hide the valid ones', async () => {
  const invalid = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  bundles.cell.write([invalid]);
  await eventually(() => expect(check.problem()).toMatch(/contains no valid certificate/));
  bundles.cell.write([invalid, ...splitPem(authority.certificate)]);
  await eventually(() => expect(check.problem()).toBeUndefined());
});

test('a certificate for another name is none', async () => {
  trust(authority);
  await eventually(() => expect(check.problem()).toBeUndefined());
  certificates.replace(await issueServingCertificate(authority, serviceNames('other', 'gates')));
  await eventually(() => expect(check.problem()).toMatch(/hook\.gates\.svc/));
});

test('a replica that is too busy to answer keeps the verdict that it had', async () => {
  const { port } = server.address() as AddressInfo;
  let isBusy = false;
  let unanswered = 0;
  const relay = createRelay((socket) => {
    socket.on('error', () => undefined);
    if (isBusy) socket.resume().on('close', () => (unanswered += 1));
    else socket.pipe(connect(port, '127.0.0.1')).pipe(socket);
  });
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
  const busy = startSelfCheck({
    bundles,
    certificates,
    address: { host: '127.0.0.1', port: (relay.address() as AddressInfo).port },
    serverName: 'hook.gates.svc',
    patience: 200,
  });
  try {
    trust(authority);
    await until(() => expect(busy.problem()).toBeUndefined());
    isBusy = true;
    trust(authority, await createAuthority());
    await until(() => expect(unanswered).toBeGreaterThan(0));
    expect(busy.problem()).toBeUndefined();
  } finally {
    await busy.stop();
    relay.close();
  }
});
