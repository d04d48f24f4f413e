import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  createAuthority,
  exportAuthority,
  importAuthority,
  issueServingCertificate,
  validFor,
  type Authority,
} from '../../../src/certificates/authority.ts';
import { createCertificateSource } from '../../../src/certificates/source.ts';
import { dsaKey } from '../../support/certificates.ts';

const now = new Date('2026-03-01T12:00:00Z');
let authority: Authority;

beforeAll(async () => {
  authority = await createAuthority(validFor(10, now));
});

describe('createAuthority', () => {
  test('makes a self-signed P-256 authority with the given validity', () => {
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(certificate.validFromDate).toEqual(new Date('2026-03-01T11:55:00Z'));
    expect(certificate.validToDate).toEqual(new Date('2026-03-11T12:00:00Z'));
  });

  test('makes a new key each time', async () => {
    const other = new X509Certificate((await createAuthority()).certificate);
    expect(other.verify(new X509Certificate(authority.certificate).publicKey)).toBe(false);
  });
});

describe('issueServingCertificate', () => {
  test('issues a leaf for the names, signed by the authority, with a key that fits', async () => {
    const names = { dnsNames: ['localhost', '*.example.com'], ipAddresses: ['127.0.0.1', '::1'] };
    const material = await issueServingCertificate(authority, names, validFor(5, now));
    const leaf = new X509Certificate(material.certificate);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
    expect(leaf.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(material.privateKey))).toBe(true);
    expect(leaf.checkHost('localhost')).toBe('localhost');
    expect(leaf.checkHost('a.example.com')).toBe('*.example.com');
    expect(leaf.checkHost('example.org')).toBeUndefined();
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkIP('::1')).toBeDefined();
    expect(leaf.validToDate).toEqual(new Date('2026-03-06T12:00:00Z'));
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  test('takes names longer than a common name can be', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`;
    const { certificate } = await issueServingCertificate(authority, { dnsNames: [long], ipAddresses: [] });
    expect(new X509Certificate(certificate).checkHost(long)).toBe(long);
  });

  test('refuses a key before OpenSSL computes with it for long', async () => {
    const material = { ...exportAuthority(authority), privateKey: dsaKey(30_000) };
    await expect(importAuthority(material)).rejects.toThrow('unsupported type');
  });

  test('refuses to issue for nobody', async () => {
    await expect(issueServingCertificate(authority, { dnsNames: [], ipAddresses: [] })).rejects.toThrow(
      'at least one DNS name or IP address',
    );
  });
});

describe('createCertificateSource', () => {
  const first = { certificate: 'a', privateKey: 'b' };
  const second = { certificate: 'c', privateKey: 'd' };

  test('hands out the newest material and tells listeners, until they stop', () => {
    const source = createCertificateSource(first);
    const seen: unknown[] = [];
    const stop = source.onChange(() => seen.push(source.current()));
    expect(source.current()).toBe(first);
    source.replace(second);
    stop();
    source.replace(first);
    expect(seen).toEqual([second]);
    expect(source.current()).toBe(first);
  });
});
