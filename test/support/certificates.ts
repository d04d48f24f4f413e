import 'reflect-metadata';
import { KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
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

/** A DSA key of random numbers. OpenSSL computes its public key when it parses it, which takes long if it is large. */
export function dsaKey(bits: number, label = 'PRIVATE KEY'): string {
  const element = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, 0x83, 0, content.length >> 8, content.length & 0xff]), content]);
  };
  const number = (): Buffer => {
    const random = randomBytes(bits / 8);
    random[0] = 0x7f;
    random[random.length - 1] = 0xff;
    return element(0x02, random);
  };
  const version = Buffer.from([0x02, 0x01, 0x00]);
  const identifier = Buffer.from('06072a8648ce380401', 'hex');
  const two = Buffer.from([0x02, 0x01, 0x02]);
  // Its lengths are not the shortest ones, which OpenSSL accepts.
  const algorithm = element(0x30, identifier, element(0x30, number(), two, two));
  const key = element(0x30, version, algorithm, element(0x04, number())).toString('base64');
  return `-----BEGIN ${label}-----\n${key.replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}
