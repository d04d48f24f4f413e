import 'reflect-metadata';
import { KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { validFor, type Authority } from '../../src/certificates/authority.ts';
import type { CertificatePair } from '../../src/proxy/listen/identities.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface LeafOptions {
  /** Both where it is left out. */
  readonly usages?: readonly ('clientAuth' | 'serverAuth')[];
  readonly dnsNames?: readonly string[];
  readonly uris?: readonly string[];
  /** The common name of the subject. */
  readonly commonName?: string;
  /** Of the key; P-256 where it is left out. */
  readonly keyAlgorithm?: webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams;
}

/** Issues a certificate for whatever end of a connection. */
export async function issueLeaf(
  authority: Authority,
  {
    usages = ['clientAuth', 'serverAuth'],
    dnsNames = [],
    uris = [],
    commonName = 'leaf',
    keyAlgorithm = algorithm,
  }: LeafOptions,
): Promise<CertificatePair> {
  const keys = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...uris.map((value) => ({ type: 'url' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: algorithm,
    ...validFor(1),
    extensions: [
      new x509.ExtendedKeyUsageExtension(usages.map((usage) => x509.ExtendedKeyUsage[usage])),
      // Without names there is no extension, so that code that falls back on the common name is found.
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  return {
    cert: certificate.toString('pem'),
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Issues a chain of so many certificates with expensive keys, each by the next one; the last one by itself. */
export async function issueExpensiveChain(length: number): Promise<CertificatePair> {
  const expensive = { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' };
  const keysOf = (): Promise<webcrypto.CryptoKeyPair> =>
    webcrypto.subtle.generateKey(expensive, true, ['sign', 'verify']);
  const nameOf = (position: number): string => `CN=${position}`;
  const all = await Promise.all(Array.from({ length }, keysOf));
  const chain: string[] = [];
  for (const [position, subject] of all.entries()) {
    const signer = all[position + 1] ?? subject;
    const certificate = await x509.X509CertificateGenerator.create({
      subject: nameOf(position),
      issuer: nameOf(Math.min(position + 1, length - 1)),
      publicKey: subject.publicKey,
      signingKey: signer.privateKey,
      signingAlgorithm: expensive,
      ...validFor(1),
      extensions: [new x509.BasicConstraintsExtension(true)],
    });
    chain.push(certificate.toString('pem'));
  }
  const [leaf] = all;
  if (leaf === undefined) throw new Error('a chain has one certificate at least');
  return {
    cert: chain.join('\n'),
    key: KeyObject.from(leaf.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Certificates (PEM) like the given one that differ in their serial numbers, so their signatures are invalid. At most 2³². */
export function differentCertificates(certificate: string, count: number): readonly string[] {
  const { raw, serialNumber } = new X509Certificate(certificate);
  const serial = raw.indexOf(Buffer.from(serialNumber, 'hex'));
  return Array.from({ length: count }, (_, index) => {
    const der = Buffer.from(raw);
    der.writeUInt32BE(index, serial + Buffer.from(serialNumber, 'hex').length - 4);
    const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  });
}
