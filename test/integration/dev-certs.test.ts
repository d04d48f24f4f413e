import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'dev-certs-')), 'made');
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

function makeCertificates(...args: readonly string[]) {
  return spawnSync(process.execPath, ['certs/make-dev-certs.ts', folder, ...args], { encoding: 'utf8' });
}

describe('certs/make-dev-certs.ts', () => {
  test('writes an authority, a certificate for the names and a key that only the user can read', () => {
    expect(makeCertificates('--dns', 'a.example', '--dns', 'b.example', '--ip', '127.0.0.5')).toMatchObject({
      status: 0,
    });
    const leaf = new X509Certificate(readFileSync(join(folder, 'tls.crt')));
    const authority = new X509Certificate(readFileSync(join(folder, 'ca.crt')));
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(readFileSync(join(folder, 'tls.key'))))).toBe(true);
    expect(leaf.subjectAltName).toBe('DNS:a.example, DNS:b.example, IP Address:127.0.0.5');
    expect(statSync(join(folder, 'tls.key')).mode & 0o777).toBe(0o600);
  });

  test('never overwrites', () => {
    makeCertificates();
    const before = readFileSync(join(folder, 'tls.key'), 'utf8');
    const second = makeCertificates();
    expect(second.status).toBe(1);
    expect(second.stderr).toContain('tls.key exists already; remove it first');
    expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe(before);
  });
});
