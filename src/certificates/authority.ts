import { KeyObject, webcrypto } from 'node:crypto';
import type { CertificateMaterial } from './source.ts';

/** A certificate authority for development, in memory. */
export interface Authority {
  /** What clients must trust, as PEM. */
  readonly certificate: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface ServingNames {
  /** May hold wildcards (`*.example.com`). */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const authorityName = 'CN=Sallyport development authority';
const clockSkew = 5 * 60_000;

/** Valid from five minutes ago, for clocks that are behind, until `days` after `now`. */
export function validFor(days: number, now = new Date()): Validity {
  return { notBefore: new Date(now.getTime() - clockSkew), notAfter: new Date(now.getTime() + days * 86_400_000) };
}

/** Makes a new authority with an ECDSA P-256 key of its own, which may sign leaves only. */
export async function createAuthority(validity = validFor(365)): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: authorityName,
    keys,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), keys };
}

/**
 * Issues a certificate for a TLS server, with a new ECDSA P-256 key.
 *
 * @param names at least one; clients look at these only, never at the common name (RFC 9525)
 * @throws where there is no name, or one that no certificate can hold
 */
export async function issueServingCertificate(authority: Authority, names: ServingNames, validity = validFor(90)): Promise<CertificateMaterial> {
  const [first] = [...names.dnsNames, ...names.ipAddresses];
  if (first === undefined) throw new Error('a serving certificate needs at least one DNS name or IP address');
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    // A common name holds 64 characters at most.
    subject: [{ CN: [first.slice(0, 64)] }],
    issuer: authorityName,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dnsNames.map((value) => ({ type: 'dns' as const, value })),
        ...names.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: exportKey(keys.privateKey) };
}

/** Loaded on first use: it takes a tenth of a second, and most commands issue nothing. */
async function loadX509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function exportKey(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();
}
