import { createPublicKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { readPrivateKey } from './private-key.ts';
import type { CertificateMaterial } from './source.ts';
import { wallNow } from '../time/clock.ts';

/** A certificate authority in memory, ready to sign. */
export interface Authority {
  /** The certificate that clients must trust, as PEM. */
  readonly certificate: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface ServingNames {
  /** May contain wildcards (`*.example.com`). */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const developmentName = 'Sallyport development authority';
const clockSkew = 5 * 60_000;

/** An authority as text, for storage. The key is secret: it must not be logged or appear in messages. */
export interface AuthorityMaterial {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A validity from five minutes before `now`, for slow clocks, until `days` after `now`. */
export function validFor(days: number, now = new Date(wallNow())): Validity {
  return validUntil(new Date(now.getTime() + days * 86_400_000), now);
}

/** A validity from five minutes before `now` until `notAfter`. */
export function validUntil(notAfter: Date, now: Date): Validity {
  return { notBefore: new Date(now.getTime() - clockSkew), notAfter };
}

/**
 * Creates an authority with a new ECDSA P-256 key, which may sign leaves only.
 *
 * @param commonName at most 64 characters; authorities that are trusted together need different ones, or clients try each key
 */
export async function createAuthority(validity = validFor(365), commonName = developmentName): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
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

/** Exports an authority as text, with its key as PKCS #8. */
export function exportAuthority({ certificate, keys }: Authority): AuthorityMaterial {
  return { certificate, privateKey: exportKey(keys.privateKey) };
}

/**
 * Imports an authority.
 *
 * @throws if certificate or key are invalid or do not belong together; the message quotes neither
 */
export async function importAuthority({ certificate, privateKey }: AuthorityMaterial): Promise<Authority> {
  const read = readPrivateKey(privateKey, 'the Secret of the authority');
  if (read.type === 'unusable') throw new Error(read.problem);
  const { key } = read;
  if (!new X509Certificate(certificate).checkPrivateKey(key))
    throw new Error('the key of the authority does not belong to its certificate');
  const { subtle } = webcrypto;
  const signing = await subtle.importKey('pkcs8', key.export({ type: 'pkcs8', format: 'der' }), algorithm, true, [
    'sign',
  ]);
  const verifying = await subtle.importKey(
    'spki',
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    algorithm,
    true,
    ['verify'],
  );
  return { certificate, keys: { privateKey: signing, publicKey: verifying } };
}

/**
 * Issues a certificate for a TLS server, with a new ECDSA P-256 key.
 *
 * @param names at least one; clients check only these, never the common name (RFC 9525)
 * @throws if there is no name, or a name that is not possible in a certificate
 */
export async function issueServingCertificate(
  authority: Authority,
  names: ServingNames,
  validity = validFor(90),
): Promise<CertificateMaterial> {
  const [first] = [...names.dnsNames, ...names.ipAddresses];
  if (first === undefined) throw new Error('a serving certificate needs at least one DNS name or IP address');
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    // A common name has at most 64 characters.
    subject: [{ CN: [first.slice(0, 64)] }],
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
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

/** Loaded on first use: it takes a tenth of a second, and most commands issue no certificate. */
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
