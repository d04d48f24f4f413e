import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { issueSigningAuthority } from '../../../src/certificates/authority-rotation.ts';
import { writeAuthorities } from '../../../src/certificates/authority-secret.ts';
import { ManagedCertificate, observeCertificates, serviceNames } from '../../../src/certificates/index.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';
import { MemorySecretStore } from '../../support/certificate-stores.ts';

const start = Date.UTC(2026, 2, 1);
const hour = 3_600_000;

let secrets: MemorySecretStore;
let now: number;
let logged: string[];
let managed: ManagedCertificate;

beforeEach(() => {
  secrets = new MemorySecretStore();
  now = start;
  logged = [];
  const log = createLogger('info', { write: (line) => logged.push(line) });
  managed = new ManagedCertificate({
    secrets,
    names: serviceNames('hook', 'gates'),
    policy: { leafLifetime: 3 * hour, clockSkew: hour / 12 },
    log,
    now: () => now,
  });
});

async function sign(notAfter = start + 900 * hour) {
  const current = await issueSigningAuthority(now, notAfter);
  secrets.cell.write(writeAuthorities({ current, retired: [] }));
  return current;
}

async function served(): Promise<X509Certificate> {
  return new X509Certificate((await managed.issued()).current().certificate);
}

describe('ManagedCertificate', () => {
  test('has nothing before there is an authority, and looks again soon', async () => {
    expect(await managed.round()).toBe(1_000);
    expect(managed.leaf).toBeUndefined();
  });

  test('issues a leaf for the names of the Service, signed by the current authority', async () => {
    const { certificate } = await sign();
    expect(await managed.round()).toBe(2 * hour);
    const leaf = await served();
    expect(leaf.verify(new X509Certificate(certificate).publicKey)).toBe(true);
    expect(leaf.checkIssued(new X509Certificate(certificate))).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey((await managed.issued()).current().privateKey))).toBe(true);
    expect(leaf.subjectAltName).toBe('DNS:hook.gates.svc, DNS:hook.gates.svc.cluster.local, DNS:hook.gates, DNS:hook');
    expect(leaf.validToDate).toEqual(new Date(start + 3 * hour));
    expect(logged.join('')).not.toContain('PRIVATE KEY');
  });

  test('keeps its leaf until two thirds of its life, then replaces it', async () => {
    await sign();
    await managed.round();
    const source = await managed.issued();
    const first = source.current();
    now += 2 * hour - 1;
    expect(await managed.round()).toBe(1);
    expect(source.current()).toBe(first);
    now += 1;
    await managed.round();
    expect(source.current()).not.toBe(first);
    expect((await served()).validToDate).toEqual(new Date(now + 3 * hour));
  });

  test('replaces a leaf that was issued while the clock was ahead', async () => {
    await sign();
    const source = managed.issued();
    now += hour;
    await managed.round();
    const first = (await source).current();
    now -= hour / 6;
    await managed.round();
    expect((await source).current()).toBe(first);
    now -= 1;
    await managed.round();
    expect((await source).current()).not.toBe(first);
    expect((await served()).validFromDate.getTime()).toBeLessThan(now);
  });

  test('changes to another authority at once', async () => {
    await sign();
    await managed.round();
    const changes: unknown[] = [];
    (await managed.issued()).onChange(() => changes.push(now));
    const { certificate } = await sign();
    await managed.round();
    expect((await served()).verify(new X509Certificate(certificate).publicKey)).toBe(true);
    expect(changes).toHaveLength(1);
  });

  test('counts the life of a leaf from before the Secret was read', async () => {
    await sign();
    const slow = new ManagedCertificate({
      secrets: {
        onChange: () => () => undefined,
        read: async () => {
          now += hour;
          return secrets.read();
        },
      },
      names: serviceNames('hook', 'gates'),
      policy: { leafLifetime: 3 * hour, clockSkew: hour / 12 },
      log: createLogger('silent'),
      now: () => now,
    });
    await slow.round();
    expect(slow.leaf?.notAfter).toBe(start + 3 * hour);
  });

  test('never outlives its authority, and is not renewed by one that is over', async () => {
    const { notAfter } = await sign(start + hour);
    await managed.round();
    expect(managed.leaf).toMatchObject({ notAfter, authorityNotAfter: notAfter });
    now += 2 * hour;
    await managed.round();
    expect(managed.leaf?.notAfter).toBe(notAfter);
  });

  test('keeps its leaf while the Secret is lost, unreadable or without a signing authority', async () => {
    await sign();
    await managed.round();
    const before = managed.leaf;
    for (const data of [undefined, { 'authorities.json': 'no' }, writeAuthorities({ retired: [] })]) {
      secrets.cell.write(data);
      await managed.round();
      expect(managed.leaf).toBe(before);
    }
    expect(logged.join('')).toContain('unreadable');
  });

  test('follows the Secret by itself until it is stopped', async () => {
    const rounds = managed.start();
    await sign();
    await managed.issued();
    const next = await sign();
    await eventually(() => expect(managed.leaf?.authority).toBe(next.certificate));
    await rounds.stop();
    await sign();
    expect(managed.leaf?.authority).toBe(next.certificate);
  });
});

test('observeCertificates shows what is known', async () => {
  const metrics = createMetrics();
  observeCertificates(metrics, { serving: () => 1_234, authority: () => undefined });
  const text = await metrics.scrape();
  expect(text).toContain('sallyport_certificate_not_after_seconds{certificate="serving"} 1234');
  expect(text).not.toContain('authority"');
});
