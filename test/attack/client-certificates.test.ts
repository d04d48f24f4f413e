import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { issueExpensiveChain } from '../support/certificates.ts';
import { freePort } from '../support/program.ts';
import { startAttackedBackend } from './support/attacked-backend.ts';
import type { AttackedBackend } from './support/attacked-backend.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { firstOutput, spawnProgram } from './support/program.ts';
import { isFull, scaled } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

let target: Target;
let backend: AttackedBackend;
let folder: string;
let at: { readonly plain: number; readonly secure: number };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-attack-'));
  backend = await startAttackedBackend();
  const authority = await createAuthority();
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['a.example'],
    ipAddresses: [gatewayHost],
  });
  at = { plain: await freePort(), secure: await freePort() };
  const validation = `{ caCertificateRefs: [{ group: '', kind: ConfigMap, name: clients }] }`;
  const yaml = connectionObjects({
    ...at,
    attacked: backend.port,
    calm: backend.port,
    certificate,
    privateKey,
  }).replace(/\n {2}listeners: /, `\n  tls: { frontend: { default: { validation: ${validation} } } }$&`);
  const authorities = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'clients', namespace: 'shop' },
    data: { 'ca.crt': authority.certificate },
  });
  target = await startTarget(`${yaml}---\n${authorities}\n`);
  await warmUp({ host: gatewayHost, port: at.plain }, 'calm.example');
}, 60_000);
afterAll(async () => {
  await target.stop();
  backend.close();
  await rm(folder, { recursive: true });
});

// OpenSSL verifies the whole chain of a client in one step, also if nobody trusts its end.
test('clients whose certificates take long to verify leave time for others', async () => {
  const file = join(folder, 'pair.json');
  await writeFile(file, JSON.stringify(await issueExpensiveChain(scaled(10, 130))));
  const duration = scaled(500, 8_000);
  let begun = 0;
  const { sent, failures, p99 } = await whileServing(
    { host: gatewayHost, port: at.plain },
    'calm.example',
    async () => {
      const attacker = spawnProgram(
        'test/attack/support/certificate-attacker.ts',
        gatewayHost,
        String(at.secure),
        String(duration),
        file,
      );
      const ended = once(attacker, 'close');
      begun = Number(await firstOutput(attacker));
      await ended;
    },
  );
  process.stdout.write(`${begun} handshakes: p99 ${p99.toFixed(0)} ms, ${failures.length} of ${sent} failed\n`);
  expect(begun).toBeGreaterThan(8);
  expect(await target.metric('sallyport_proxy_tls_failures_total')).toBeGreaterThan(0);
  expect(failures).toEqual([]);
  if (isFull) expect(p99).toBeLessThan(250);
}, 120_000);
