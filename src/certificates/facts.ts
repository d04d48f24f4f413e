import { X509Certificate } from 'node:crypto';
import { maxAuthorities, type AuthorityFacts, type CertificateFacts } from '../core/graph/inputs.ts';
import { recordOf } from '../core/text/record.ts';
import { attempt } from './attempt.ts';
import { readCertificate, splitPem } from './pem.ts';
import { readPrivateKey, unusable, type Unusable } from './private-key.ts';
import { SharedByText } from './shared-by-text.ts';
import type { CertificateMaterial } from './source.ts';

/** The relevant fields of a Secret, of any shape. */
export interface SecretData {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly stringData?: unknown;
}

/** The certificate and key of a Secret, or why they are unusable. Problems never quote the content of the Secret. */
export type TlsSecret = { readonly type: 'material'; readonly material: CertificateMaterial } | Unusable;

/**
 * The facts that the evaluation may know about a Secret of type `kubernetes.io/tls`: the validity of its certificate, never the key. Never throws.
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
    notBefore: rfc3339(leaf.validFromDate),
    notAfter: rfc3339(leaf.validToDate),
  };
}

/** Secrets that were read. The evaluation and the configuration of data planes read each Secret of an event, which takes milliseconds. */
const secretsRead = new WeakMap<object, TlsSecret>();

/**
 * The certificate chain and key of a Secret of type `kubernetes.io/tls`, verified to be valid and to belong together. As in the API
 * server, `stringData` takes precedence over `data`. An object is read once. Never throws.
 */
export function readTlsSecret(secret: unknown): TlsSecret {
  if (typeof secret !== 'object' || secret === null) return readSecret(secret);
  const known = secretsRead.get(secret);
  if (known !== undefined) return known;
  const read = readSecret(secret);
  secretsRead.set(secret, read);
  return read;
}

function readSecret(secret: unknown): TlsSecret {
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

/**
 * Limits of the CA certificates in one object. Each costs 60 microseconds and 5 KB in each TLS context that trusts it. The bundles of
 * operating systems have 150 certificates in 230 KB.
 */
const largestBundle = { characters: 512 * 1_024, certificates: maxAuthorities } as const;

/** Characters of a CA certificate. The time to verify a client certificate grows with the constraints of names in it. */
const longestAuthority = 16 * 1_024;

/** Tools write the same bundle into each namespace. */
const sharedFacts = new SharedByText<AuthorityFacts>();

function authoritiesOf(field: string, text: unknown): AuthorityFacts {
  if (typeof text !== 'string') return unusable(`${field} is not a string`);
  if (text.length > largestBundle.characters)
    return unusable(
      `${field} has more than 512 KiB. Keep only the CA certificates that sign the certificates to verify`,
    );
  return sharedFacts.get(`${field} ${text}`, () => readAuthorities(field, text));
}

function readAuthorities(field: string, text: string): AuthorityFacts {
  const certificates = [...new Set(splitPem(text))];
  if (certificates.length === 0) return unusable(`${field} contains no PEM certificate (-----BEGIN CERTIFICATE-----)`);
  if (certificates.length > largestBundle.certificates)
    return unusable(
      `${field} has ${certificates.length} different certificates, more than the limit of ${largestBundle.certificates}. Keep only the CA certificates that sign the certificates to verify`,
    );
  const long = certificates.findIndex((pem) => pem.length > longestAuthority);
  if (long !== -1)
    return unusable(`certificate ${long + 1} of ${certificates.length} in ${field} has more than 16 KiB`);
  const broken = certificates.findIndex((pem) => readCertificate(pem) === undefined);
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
  const certificates = chain.map(readCertificate);
  const broken = certificates.indexOf(undefined);
  if (broken !== -1) return unusable(`certificate ${broken + 1} of ${chain.length} in ${names.certificate} is invalid`);
  const key = readPrivateKey(material.privateKey, names.privateKey);
  if (key.type === 'unusable') return key;
  const leafFits = attempt(() => certificates[0]?.checkPrivateKey(key.key)) === true;
  return leafFits
    ? { type: 'material', material }
    : unusable(`${names.privateKey} does not match the first certificate in ${names.certificate}`);
}

function rfc3339(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}
