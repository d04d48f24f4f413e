import { createPrivateKey, type KeyObject } from 'node:crypto';
import { attempt } from './attempt.ts';

/** Why the content of an object is unusable. Never quotes it. */
export interface Unusable {
  readonly type: 'unusable';
  readonly problem: string;
}

/** Limits of a private key. Each handshake computes a signature with it, in the process of all listeners. */
const limits = {
  /** Characters of the PEM text: a key of ML-DSA-87 has 7,000. */
  characters: 32 * 1_024,
  /** Bits of an RSA key. A signature takes 2 ms with 4096 bits, 35 ms with 8192, and more than 200 ms with 16384. */
  modulus: 4_096,
} as const;

/** Types of keys with which TLS servers sign, in at most 2 ms. Keys on curves with a name only, because others have any size. */
const usable: ReadonlySet<string> = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']);

/**
 * Parses a private key and verifies that signatures with it take a short time. Never throws.
 *
 * @param name the name of the text in messages
 */
export function readPrivateKey(
  text: string,
  name: string,
): { readonly type: 'key'; readonly key: KeyObject } | Unusable {
  if (text.length > limits.characters)
    return unusable(`${name} has more than 32 KiB. Keep only the private key of the first certificate`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    return unusable(`${name} contains no PEM private key (-----BEGIN PRIVATE KEY-----)`);
  if (/ENCRYPTED/.test(text)) return unusable(`${name} is encrypted with a passphrase. Store it without a passphrase`);
  if (!startsAsUsable(text))
    return unusable(
      `the private key in ${name} is invalid, or has an unsupported type. Use ECDSA P-256, or RSA with at most ${limits.modulus} bits`,
    );
  const key = attempt(() => createPrivateKey(text));
  if (key === undefined) return unusable(`the private key in ${name} is invalid`);
  const problem = slowness(key, name);
  return problem === undefined ? { type: 'key', key } : unusable(problem);
}

const length = '(?:[0-7].|81..|82....)';
/** Identifiers of RSA, RSA-PSS, keys on curves, Ed25519, Ed448 and the three sizes of ML-DSA, with tag and length. */
const algorithms = [
  '06092a864886f70d0101(?:01|0a)',
  '06072a8648ce3d0201',
  '06032b65(?:70|71)',
  '060960864801650304031[123]',
].join('|');

/** How the DER bytes of a key begin, in hexadecimal, by the label of its PEM block: PKCS #8 with its algorithm, PKCS #1 and SEC 1. */
const beginnings: ReadonlyMap<string, RegExp> = new Map([
  ['PRIVATE KEY', new RegExp(`^30${length}02010[01]30${length}(?:${algorithms})`)],
  ['RSA PRIVATE KEY', new RegExp(`^30${length}02010002`)],
  ['EC PRIVATE KEY', new RegExp(`^30${length}02010104`)],
]);

/**
 * Whether OpenSSL may parse the keys in a text. It computes the public key of a DSA or Diffie-Hellman key while it parses it, which takes
 * a minute with 18 KB of text. A block that it might read in another way does not pass.
 */
function startsAsUsable(text: string): boolean {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z ]*)-----([A-Za-z0-9+/=\s]*)-----END /g)];
  const isEachRead = blocks.length === text.split('-----BEGIN').length - 1;
  return isEachRead && blocks.every(([, label = '', body = '']) => !label.includes('PRIVATE') || isUsable(label, body));
}

function isUsable(label: string, body: string): boolean {
  const [encoded = ''] = body.split('=', 1);
  return beginnings.get(label)?.test(Buffer.from(encoded, 'base64').toString('hex', 0, 64)) === true;
}

function slowness(key: KeyObject, name: string): string | undefined {
  const { asymmetricKeyType = '', asymmetricKeyDetails = {} } = key;
  if (!usable.has(asymmetricKeyType) && !asymmetricKeyType.startsWith('ml-dsa-'))
    return `the key in ${name} has type ${asymmetricKeyType}, which is unsupported. Use ECDSA P-256, or RSA with at most ${limits.modulus} bits`;
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails.namedCurve === undefined)
    return `the key in ${name} is on a curve without a name, which is unsupported. Use ECDSA P-256`;
  const bits = asymmetricKeyDetails.modulusLength ?? 0;
  // OpenSSL rejects exponents that are longer than the modulus.
  return bits > limits.modulus
    ? `the RSA key in ${name} has ${bits} bits, and each handshake would take long. Use ECDSA P-256, or RSA with at most ${limits.modulus} bits`
    : undefined;
}

/** The outcome for content that is unusable because of `problem`. */
export function unusable(problem: string): Unusable {
  return { type: 'unusable', problem };
}
