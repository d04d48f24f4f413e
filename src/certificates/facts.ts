import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { AuthorityFacts, CertificateFacts } from '../core/graph/inputs.ts';
import { hostnameKey } from '../core/text/hostname.ts';
import { recordOf } from '../core/text/record.ts';
import { splitPem } from './pem.ts';
import type { CertificateMaterial } from './source.ts';

/** The relevant fields of a Secret, of any shape. */
export interface SecretData {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly stringData?: unknown;
}

/** The certificate and key of a Secret, or why they are unusable. Problems never quote the content of the Secret. */
export type TlsSecret = { readonly type: 'material'; readonly material: CertificateMaterial } | Unusable;

interface Unusable {
  readonly type: 'unusable';
  readonly problem: string;
}

/**
 * The facts that the evaluation may know about a Secret of type `kubernetes.io/tls`: names and validity of its certificate, never
 * the key. Never throws.
 *
 * @param secret the Secret as JSON, of any shape
 */
export function certificateFacts(secret: unknown): CertificateFacts {
  const read = readTlsSecret(secret);
  if (read.type === 'unusable') return read;
  return (
    attempt(() => describeLeaf(read.material)) ??
    unusable('the first certificate in tls.crt has an invalid validity period')
  );
}

function describeLeaf(material: CertificateMaterial): CertificateFacts {
  const leaf = new X509Certificate(material.certificate);
  return {
    type: 'certificate',
    dnsNames: dnsNames(leaf.subjectAltName ?? ''),
    notBefore: rfc3339(leaf.validFromDate),
    notAfter: rfc3339(leaf.validToDate),
  };
}

/**
 * The certificate chain and key of a Secret of type `kubernetes.io/tls`, verified to be valid and to belong together. As in the API
 * server, `stringData` takes precedence over `data`. Never throws.
 */
export function readTlsSecret(secret: unknown): TlsSecret {
  const { type, data, stringData }: SecretData = recordOf(secret);
  if (type !== 'kubernetes.io/tls')
    return unusable(
      `its type is ${typeof type === 'string' ? JSON.stringify(type) : 'missing'}. Set type: kubernetes.io/tls`,
    );
  const certificate = readEntry('tls.crt', recordOf(data), recordOf(stringData));
  if (certificate.type === 'unusable') return certificate;
  const privateKey = readEntry('tls.key', recordOf(data), recordOf(stringData));
  if (privateKey.type === 'unusable') return privateKey;
  return checkMaterial(
    { certificate: certificate.text, privateKey: privateKey.text },
    { certificate: 'tls.crt', privateKey: 'tls.key' },
  );
}

/**
 * The facts that the evaluation may know about a ConfigMap that is referenced as an authority: the certificates in its key `ca.crt`.
 * Never throws.
 *
 * @param configMap the ConfigMap as JSON, of any shape
 */
export function authorityFacts(configMap: unknown): AuthorityFacts {
  const text = recordOf(recordOf(configMap)['data'])['ca.crt'];
  return text === undefined || text === null ? unusable('ca.crt not found in its data') : authoritiesOf('ca.crt', text);
}

/**
 * The facts that the evaluation may know about a ClusterTrustBundle: the certificates in `spec.trustBundle`. Never throws.
 *
 * @param bundle the ClusterTrustBundle as JSON, of any shape
 */
export function trustBundleFacts(bundle: unknown): AuthorityFacts {
  return authoritiesOf('spec.trustBundle', recordOf(recordOf(bundle)['spec'])['trustBundle'] ?? '');
}

function authoritiesOf(field: string, text: unknown): AuthorityFacts {
  if (typeof text !== 'string') return unusable(`${field} is not a string`);
  const certificates = splitPem(text);
  if (certificates.length === 0) return unusable(`${field} contains no PEM certificate (-----BEGIN CERTIFICATE-----)`);
  const broken = certificates.findIndex((pem) => attempt(() => new X509Certificate(pem)) === undefined);
  return broken === -1
    ? { type: 'authorities', certificates }
    : unusable(`certificate ${broken + 1} of ${certificates.length} in ${field} is invalid`);
}

type SecretEntry = { readonly type: 'text'; readonly text: string } | Unusable;

function readEntry(
  name: 'tls.crt' | 'tls.key',
  data: Record<string, unknown>,
  stringData: Record<string, unknown>,
): SecretEntry {
  const plain = stringData[name];
  if (typeof plain === 'string' && plain !== '') return { type: 'text', text: plain };
  const encoded = data[name];
  if (encoded === undefined || encoded === null) return unusable(`${name} not found in its data`);
  if (typeof encoded !== 'string') return unusable(`${name} must be a string in base64`);
  const text = decodeBase64(encoded);
  if (text === undefined) return unusable(`${name} is not valid base64. Put PEM text under stringData instead`);
  return text === '' ? unusable(`${name} is empty`) : { type: 'text', text };
}

function decodeBase64(encoded: string): string | undefined {
  const compact = encoded.replace(/[\r\n]/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined;
  return Buffer.from(compact, 'base64').toString('utf8');
}

/**
 * Limits of a chain. The first flight of each handshake contains it, and a listener with another owner may share the port and the
 * process.
 */
const longestChain = { characters: 64 * 1_024, certificates: 16 } as const;

/** Bits of an RSA key. A signature takes 2 ms with 4096 bits, 35 ms with 8192, and more than 200 ms with 16384, in the process of all listeners. */
const longestModulus = 4_096;

/** Names of the two parts in messages. */
export interface MaterialNames {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Verifies that a certificate chain and a key are valid and belong together. Never throws. */
export function checkMaterial(material: CertificateMaterial, names: MaterialNames): TlsSecret {
  const chain = material.certificate.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (chain === null) {
    const swapped = material.certificate.includes('PRIVATE KEY-----');
    return unusable(
      swapped
        ? `${names.certificate} contains a private key instead of a certificate`
        : `${names.certificate} contains no PEM certificate (-----BEGIN CERTIFICATE-----)`,
    );
  }
  if (material.certificate.length > longestChain.characters)
    return unusable(
      `${names.certificate} has more than 64 KiB, and every client would get all of it. Keep only the chain of the first certificate`,
    );
  if (chain.length > longestChain.certificates)
    return unusable(
      `${names.certificate} has more than ${longestChain.certificates} certificates, and every client would get all of them. Keep only the chain of the first one`,
    );
  const certificates = chain.map((pem) => attempt(() => new X509Certificate(pem)));
  const broken = certificates.indexOf(undefined);
  if (broken !== -1) return unusable(`certificate ${broken + 1} of ${chain.length} in ${names.certificate} is invalid`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(material.privateKey))
    return unusable(`${names.privateKey} contains no PEM private key (-----BEGIN PRIVATE KEY-----)`);
  if (/ENCRYPTED/.test(material.privateKey))
    return unusable(`${names.privateKey} is encrypted with a passphrase. Store it without a passphrase`);
  const key: KeyObject | undefined = attempt(() => createPrivateKey(material.privateKey));
  if (key === undefined) return unusable(`the private key in ${names.privateKey} is invalid`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits > longestModulus)
    return unusable(
      `the RSA key in ${names.privateKey} has ${bits} bits, and each handshake would take long. Use ECDSA P-256, or RSA with at most ${longestModulus} bits`,
    );
  const leafFits = attempt(() => certificates[0]?.checkPrivateKey(key)) === true;
  return leafFits
    ? { type: 'material', material }
    : unusable(`${names.privateKey} does not match the first certificate in ${names.certificate}`);
}

/** Messages of OpenSSL name no field and vary between versions. It is enough to know that it failed. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/**
 * The DNS entries of a subject alternative name as Node prints it: `DNS:a.example, IP Address:127.0.0.1`. Entries with unusual
 * characters are quoted. A quoted entry is read as a whole, so that it cannot pass as several.
 */
function dnsNames(subjectAltName: string): readonly string[] {
  const entry = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;
  const names: string[] = [];
  for (let found = entry.exec(subjectAltName); found !== null; found = entry.exec(subjectAltName)) {
    const [, kind, value = ''] = found;
    if (kind === 'DNS' && !value.startsWith('"')) names.push(hostnameKey(value));
  }
  return names;
}

function rfc3339(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

function unusable(problem: string): Unusable {
  return { type: 'unusable', problem };
}
