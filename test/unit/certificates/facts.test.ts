import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  createAuthority,
  issueServingCertificate,
  validFor,
  type Authority,
} from '../../../src/certificates/authority.ts';
import { authorityFacts, certificateFacts, readTlsSecret, trustBundleFacts } from '../../../src/certificates/facts.ts';
import type { CertificateMaterial } from '../../../src/certificates/source.ts';
import { differentCertificates, dsaKey } from '../../support/certificates.ts';

let authority: Authority;
let material: CertificateMaterial;

beforeAll(async () => {
  authority = await createAuthority();
  material = await issueServingCertificate(
    authority,
    { dnsNames: ['Shop.example.com', '*.example.com'], ipAddresses: ['127.0.0.1'] },
    validFor(30, new Date('2026-03-01T12:00:00Z')),
  );
});

/** An RSA key of random numbers, not of primes: generating a large one takes 20 s. */
function rsaKey(bits: number): string {
  const number = (bytes: number): string => {
    const random = randomBytes(bytes);
    random[0] = 0xff;
    random[bytes - 1] = 0xff;
    return random.toString('base64url');
  };
  const [whole, half] = [bits / 8, bits / 16];
  const primes = { p: number(half), q: number(half) };
  const exponents = { d: number(whole - 1), dp: number(half - 1), dq: number(half - 1), qi: number(half - 1) };
  return createPrivateKey({ format: 'jwk', key: { kty: 'RSA', e: 'AQAB', n: number(whole), ...primes, ...exponents } })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** A key on P-256 with another generator, so it is a curve of its own. Such a curve could have any size. */
function keyOnUnnamedCurve(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' });
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  const pointLength = 65;
  const generator = Buffer.from('046b17d1f2e12c4247f8bce6e563a440f2', 'hex');
  der.set(der.subarray(-pointLength), der.indexOf(generator));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}

/** A signature takes half a second. */
function slowKey(): string {
  // The types of Node do not know the algorithm yet.
  const generate = generateKeyPairSync as (type: string) => ReturnType<typeof generateKeyPairSync>;
  return generate('slh-dsa-sha2-256s').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (certificate: unknown, privateKey: unknown) => ({
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': certificate, 'tls.key': privateKey },
});

describe('trustBundleFacts', () => {
  test('has the certificates of spec.trustBundle', () => {
    expect(trustBundleFacts({ spec: { trustBundle: authority.certificate } })).toEqual({
      type: 'authorities',
      certificates: [`${authority.certificate}\n`],
    });
  });

  test.each<[unknown, string]>([
    [undefined, 'spec.trustBundle contains no PEM certificate (-----BEGIN CERTIFICATE-----)'],
    [{ spec: { trustBundle: '' } }, 'spec.trustBundle contains no PEM certificate (-----BEGIN CERTIFICATE-----)'],
    [{ spec: { trustBundle: 1 } }, 'spec.trustBundle is not a string'],
    [
      { spec: { trustBundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' } },
      'certificate 1 of 1 in spec.trustBundle is invalid',
    ],
  ])('%j', (bundle, problem) => {
    expect(trustBundleFacts(bundle)).toEqual({ type: 'unusable', problem });
  });
});

describe('authorityFacts', () => {
  const facts = (text: unknown) => authorityFacts({ data: { 'ca.crt': text } });

  test('has each certificate of a bundle in one form', () => {
    const other = material.certificate.replaceAll('\n', '\r\n');
    expect(facts(`# ours\n${authority.certificate}\n${other}`)).toEqual({
      type: 'authorities',
      certificates: [`${authority.certificate}\n`, `${material.certificate}\n`],
    });
  });

  test('takes the memory of one bundle for any number of copies', () => {
    const copy = () => facts(Buffer.from(`${authority.certificate}\n${material.certificate}`).toString());
    expect(copy()).toBe(copy());
  });

  test.each<[unknown, string]>([
    [undefined, 'ca.crt not found in its data'],
    [1, 'ca.crt is not a string'],
    ['', 'ca.crt contains no PEM certificate (-----BEGIN CERTIFICATE-----)'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'certificate 1 of 1 in ca.crt is invalid'],
  ])('%j', (text, problem) => {
    expect(facts(text)).toEqual({ type: 'unusable', problem });
  });

  test('has a certificate once', () => {
    expect(facts(authority.certificate.concat('\n').repeat(300))).toEqual({
      type: 'authorities',
      certificates: [`${authority.certificate}\n`],
    });
  });

  test.each([
    [500, undefined],
    [
      501,
      'ca.crt has 501 different certificates, more than the limit of 500. Keep only the CA certificates that sign the certificates to verify',
    ],
  ])('%i certificates', (count, problem) => {
    const text = differentCertificates(authority.certificate, count).join('');
    expect(facts(text)).toMatchObject(problem === undefined ? { type: 'authorities' } : { type: 'unusable', problem });
  });

  test.each([
    [
      () => `${authority.certificate}${' '.repeat(524_288)}`,
      'ca.crt has more than 512 KiB. Keep only the CA certificates that sign the certificates to verify',
    ],
    [
      () => `-----BEGIN CERTIFICATE-----${'A'.repeat(20_000)}-----END CERTIFICATE-----`,
      'certificate 1 of 1 in ca.crt has more than 16 KiB',
    ],
  ])('is limited: case %#', (text, problem) => {
    expect(facts(text())).toEqual({ type: 'unusable', problem });
  });

  test('one that cannot be read spoils the bundle: nobody knows whom it stood for', () => {
    expect(facts(`${authority.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`)).toEqual({
      type: 'unusable',
      problem: 'certificate 2 of 2 in ca.crt is invalid',
    });
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.anything(), (json) => expect(authorityFacts(json)).toHaveProperty('type')));
  });
});

describe('certificateFacts', () => {
  test('tells the validity, and nothing else', () => {
    const facts = certificateFacts(secret(base64(material.certificate), base64(material.privateKey)));
    expect(facts).toEqual({
      type: 'certificate',
      notBefore: '2026-03-01T11:55:00Z',
      notAfter: '2026-03-31T12:00:00Z',
    });
  });

  test('reads the first of a chain', () => {
    const chain = `${material.certificate}\n${authority.certificate}\n`;
    expect(certificateFacts(secret(base64(chain), base64(material.privateKey)))).toMatchObject({
      notAfter: '2026-03-31T12:00:00Z',
    });
  });

  test('reads a Secret once for all who need it', () => {
    const json = secret(base64(material.certificate), base64(material.privateKey));
    let reads = 0;
    const counted = {
      ...json,
      get data() {
        reads += 1;
        return json.data;
      },
    };
    expect(certificateFacts(counted)).toMatchObject({ type: 'certificate' });
    expect(readTlsSecret(counted)).toMatchObject({ type: 'material' });
    expect(reads).toBe(1);
  });

  test('reads base64 with line breaks, and stringData before data', () => {
    const broken = base64(material.certificate).replace(/.{64}/g, '$&\n');
    expect(certificateFacts(secret(broken, base64(material.privateKey)))).toMatchObject({ type: 'certificate' });
    const stringData = { 'tls.crt': material.certificate, 'tls.key': material.privateKey };
    expect(certificateFacts({ ...secret('!', '!'), stringData })).toMatchObject({ type: 'certificate' });
  });

  const unusable: [problem: string, make: () => unknown][] = [
    ['its type is "Opaque". Set type: kubernetes.io/tls', () => ({ ...secret('', ''), type: 'Opaque' })],
    ['its type is missing. Set type: kubernetes.io/tls', () => ({ data: {} })],
    ['its type is missing. Set type: kubernetes.io/tls', () => null],
    ['tls.crt not found in its data', () => ({ type: 'kubernetes.io/tls' })],
    ['tls.crt not found in its data', () => secret(undefined, 'YQ==')],
    ['tls.key not found in its data', () => secret(base64(material.certificate), undefined)],
    ['tls.crt must be a string in base64', () => secret(17, '')],
    ['tls.crt is not valid base64. Put PEM text under stringData instead', () => secret(material.certificate, '')],
    ['tls.crt is empty', () => secret('', '')],
    ['tls.key is empty', () => secret(base64(material.certificate), '')],
    [
      'tls.crt contains no PEM certificate (-----BEGIN CERTIFICATE-----)',
      () => secret(base64('hello'), base64(material.privateKey)),
    ],
    [
      'tls.crt contains a private key instead of a certificate',
      () => secret(base64(material.privateKey), base64(material.certificate)),
    ],
    [
      'certificate 2 of 2 in tls.crt is invalid',
      () =>
        secret(
          base64(`${material.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`),
          base64(material.privateKey),
        ),
    ],
    [
      'tls.key contains no PEM private key (-----BEGIN PRIVATE KEY-----)',
      () => secret(base64(material.certificate), base64('hello')),
    ],
    [
      'the private key in tls.key is invalid, or has an unsupported type. Use ECDSA P-256, or RSA with at most 4096 bits',
      () =>
        secret(base64(material.certificate), base64('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')),
    ],
    [
      'tls.key is encrypted with a passphrase. Store it without a passphrase',
      () => {
        const { privateKey } = generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' },
        });
        return secret(base64(material.certificate), base64(privateKey));
      },
    ],
    [
      'the RSA key in tls.key has 8192 bits, and each handshake would take long. Use ECDSA P-256, or RSA with at most 4096 bits',
      () => secret(base64(material.certificate), base64(rsaKey(8_192))),
    ],
    [
      'the key in tls.key is on a curve without a name, which is unsupported. Use ECDSA P-256',
      () => secret(base64(material.certificate), base64(keyOnUnnamedCurve())),
    ],
    [
      'the private key in tls.key is invalid, or has an unsupported type. Use ECDSA P-256, or RSA with at most 4096 bits',
      () => secret(base64(material.certificate), base64(slowKey())),
    ],
    ...(['PRIVATE KEY', 'RSA PRIVATE KEY', 'DSA PRIVATE KEY'] as const).map((label): [string, () => unknown] => [
      'the private key in tls.key is invalid, or has an unsupported type. Use ECDSA P-256, or RSA with at most 4096 bits',
      () => secret(base64(material.certificate), base64(dsaKey(2_048, label))),
    ]),
    [
      'the private key in tls.key is invalid, or has an unsupported type. Use ECDSA P-256, or RSA with at most 4096 bits',
      () => secret(base64(material.certificate), base64(material.privateKey + dsaKey(2_048))),
    ],
    [
      'the private key in tls.key is invalid',
      () => secret(base64(material.certificate), base64(material.privateKey.replace(/.{8}\n-----END/, '\n-----END'))),
    ],
    [
      'tls.key has more than 32 KiB. Keep only the private key of the first certificate',
      () => secret(base64(material.certificate), base64(material.privateKey + ' '.repeat(32_768))),
    ],
    [
      'tls.crt has more than 16 certificates, and every client would get all of them. Keep only the chain of the first one',
      () => secret(base64(material.certificate.repeat(17)), base64(material.privateKey)),
    ],
    [
      'tls.crt has more than 64 KiB, and every client would get all of it. Keep only the chain of the first certificate',
      () => secret(base64(material.certificate + ' '.repeat(65_536)), base64(material.privateKey)),
    ],
    [
      'tls.key does not match the first certificate in tls.crt',
      () => {
        const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
        return secret(
          base64(material.certificate),
          base64(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
        );
      },
    ],
    [
      'tls.key does not match the first certificate in tls.crt',
      () => secret(base64(authority.certificate + material.certificate), base64(material.privateKey)),
    ],
  ];
  test.each([
    ['rsa', { modulusLength: 2_048 }, ['pkcs8', 'pkcs1']],
    ['rsa-pss', { modulusLength: 2_048 }, ['pkcs8']],
    [
      'rsa-pss',
      { modulusLength: 2_048, hashAlgorithm: 'sha512', mgf1HashAlgorithm: 'sha512', saltLength: 64 },
      ['pkcs8'],
    ],
    ['ec', { namedCurve: 'P-256' }, ['pkcs8', 'sec1']],
    ['ec', { namedCurve: 'P-521' }, ['pkcs8', 'sec1']],
    ['ed25519', {}, ['pkcs8']],
    ['ed448', {}, ['pkcs8']],
    ['ml-dsa-44', {}, ['pkcs8']],
    ['ml-dsa-65', {}, ['pkcs8']],
    ['ml-dsa-87', {}, ['pkcs8']],
  ] as const)('reads keys of %s with %j', (algorithm, options, forms) => {
    const generate = generateKeyPairSync as (name: string, of: object) => ReturnType<typeof generateKeyPairSync>;
    const { privateKey } = generate(algorithm, options);
    const problems = forms.map((type) => {
      const pem = privateKey.export({ type, format: 'pem' } as const).toString();
      const others = `Bag Attributes: a=b\n-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\r\n`;
      return certificateFacts(secret(base64(material.certificate), base64(others + pem.replaceAll('\n', '\r\n'))));
    });
    expect(new Set(problems.map((facts) => 'problem' in facts && facts.problem))).toEqual(
      new Set(['tls.key does not match the first certificate in tls.crt']),
    );
  });

  test.each(unusable)('says why a Secret is unusable: %s', (problem, make) => {
    expect(certificateFacts(make())).toEqual({ type: 'unusable', problem });
  });

  test('never throws, whatever the JSON', () => {
    const arbitrary = fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constant('kubernetes.io/tls'),
        data: fc.oneof(fc.jsonValue(), fc.record({ 'tls.crt': fc.jsonValue(), 'tls.key': fc.jsonValue() })),
        stringData: fc.jsonValue(),
      }),
    );
    fc.assert(fc.property(arbitrary, (json) => expect(certificateFacts(json).type).toBe('unusable')));
  });

  test('never throws on a damaged certificate or key', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(255), fc.boolean(), (at, byte, inKey) => {
        const damage = (text: string) => {
          const bytes = Buffer.from(text);
          bytes[at % bytes.length] = byte;
          return bytes.toString('base64');
        };
        const facts = certificateFacts(
          inKey
            ? secret(base64(material.certificate), damage(material.privateKey))
            : secret(damage(material.certificate), base64(material.privateKey)),
        );
        expect(['certificate', 'unusable']).toContain(facts.type);
      }),
    );
  });
});

describe('readTlsSecret', () => {
  test('hands out certificate and key as PEM', () => {
    expect(readTlsSecret(secret(base64(material.certificate), base64(material.privateKey)))).toEqual({
      type: 'material',
      material,
    });
  });
});
