import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  authorityFacts,
  certificateFacts,
  createAuthority,
  trustBundleFacts,
  type Authority,
} from '../../src/certificates/index.ts';
import type { ClientValidation, ListenerConfig } from '../../src/core/routing/config.ts';
import { Identities, type CertificatePair } from '../../src/proxy/listen/identities.ts';
import { differentCertificates, dsaKey, issueLeaf } from '../support/certificates.ts';
import { listenerConfig } from '../support/config.ts';
import { isFull, scaled } from './support/scale.ts';

/** Characters of the largest ConfigMap, Secret or ClusterTrustBundle. */
const largest = 1_024 * 1_024;

let authority: Authority;
let many: readonly string[];

beforeAll(async () => {
  authority = await createAuthority();
  many = differentCertificates(authority.certificate, scaled(500, 2_000));
});

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';
const filled = (text: string): string => text.repeat(Math.floor(largest / text.length));

/** Texts of `ca.crt` by name. */
const bundles: Readonly<Record<string, () => string>> = {
  'as many certificates as fit': () => many.join(''),
  'as many as the limit': () => many.slice(0, 500).join(''),
  'the same certificate again and again': () => filled(authority.certificate),
  'beginnings of certificates': () => filled(begin),
  'beginnings and ends': () => filled(begin + end),
  'ends before beginnings': () => filled(end + begin),
  dashes: () => filled('-'),
  'one certificate without end': () => begin + 'A'.repeat(largest),
  'one certificate of lines with one character': () => `${begin}\n${filled('A\n')}${end}`,
  'small broken certificates': () => filled(`${begin}\nMAA=\n${end}\n`),
  'a valid certificate with text around it': () => `${'x'.repeat(largest / 2)}${authority.certificate}`,
  'line feeds in a certificate': () => authority.certificate.replace('\n', '\n'.repeat(largest)),
};

/** Secrets by name. */
const secrets: Readonly<Record<string, () => object>> = {
  'a chain of the largest size': () => ({ 'tls.crt': many.join(''), 'tls.key': 'x' }),
  'beginnings of certificates': () => ({ 'tls.crt': filled(begin), 'tls.key': 'x' }),
  'beginnings of keys': () => ({ 'tls.crt': authority.certificate, 'tls.key': filled('-----BEGIN ') }),
  'a key whose public key takes a minute to compute': () => ({
    'tls.crt': authority.certificate,
    'tls.key': dsaKey(scaled(2_048, 60_000)),
  }),
  'a key of capital letters': () => ({
    'tls.crt': authority.certificate,
    'tls.key': `-----BEGIN ${'A '.repeat(largest / 2)}`,
  }),
};

/** Milliseconds of processor time that an action takes: the least of some rounds. */
function cpuOf(action: () => unknown): number {
  const rounds = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    action();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...rounds);
}

describe('objects with certificates', () => {
  const cases: readonly (readonly [string, () => unknown])[] = [
    ...Object.entries(bundles).flatMap(([name, make]): [string, () => unknown][] => {
      const text = make;
      return [
        [`ConfigMap: ${name}`, () => authorityFacts({ data: { 'ca.crt': text() } })],
        [`ClusterTrustBundle: ${name}`, () => trustBundleFacts({ spec: { trustBundle: text() } })],
      ];
    }),
    ...Object.entries(secrets).map(([name, make]): [string, () => unknown] => [
      `Secret: ${name}`,
      () => certificateFacts({ type: 'kubernetes.io/tls', stringData: make() }),
    ]),
  ];

  test.each(cases)('%s: facts within the limits, or a problem in few words', (_, read) => {
    const facts = read() as { readonly problem?: string; readonly certificates?: readonly string[] };
    expect(facts.problem?.length ?? 0).toBeLessThan(200);
    expect(facts.certificates?.length ?? 0).toBeLessThanOrEqual(500);
  });

  if (isFull)
    test('take less than 100 ms of processor time each', () => {
      const costs = cases.map(([name, read]) => ({ name, cpu: cpuOf(read) }));
      process.stderr.write(`${JSON.stringify(costs.toSorted((one, other) => other.cpu - one.cpu).slice(0, 3))}\n`);
      expect(costs.filter(({ cpu }) => cpu >= 100)).toEqual([]);
    });
});

describe('a Gateway with as many certificates and CA certificates as the CRDs accept', () => {
  const listeners = (validation: ClientValidation): readonly ListenerConfig[] =>
    Array.from({ length: scaled(8, 64) }, (_, listener) =>
      listenerConfig(`l${listener}`, {
        protocol: 'HTTPS',
        hostname: `${listener}.example.com`,
        certificates: Array.from({ length: 64 }, (_certificate, index) => `shop/${listener}-${index}`),
        clientValidation: validation,
      }),
    );

  test('the data plane pauses while it loads them, loads no more than the limit, and keeps what it has loaded', async () => {
    const leaf = await issueLeaf(authority, {
      dnsNames: Array.from({ length: 1_500 }, (_, index) => `${index}.example.com`),
    });
    const pairs = new Map<string, CertificatePair>();
    const source = (secret: string): CertificatePair => {
      const pair = pairs.get(secret) ?? { ...leaf };
      pairs.set(secret, pair);
      return pair;
    };
    const all = listeners({ authorities: many.slice(0, 100), mode: 'AllowValidOnly' });
    const former = new Identities(source);
    const first = await turnsOf(() => former.renew(all));
    const second = await turnsOf(() => first.result.renew(all));
    expect(first.turns.length).toBeGreaterThan(5);
    const problems = all.flatMap((listener) => second.result.of(listener).problems);
    expect(problems).toHaveLength(all.length * 64 - 50);
    if (isFull) {
      process.stderr.write(`longest turns: ${Math.max(...first.turns)} and ${Math.max(...second.turns)} ms of CPU\n`);
      expect(Math.max(...first.turns, ...second.turns)).toBeLessThan(100);
      const [loaded] = all.map((listener) => second.result.of(listener));
      expect(cpuOf(() => loaded?.contextFor('unknown.example.com'))).toBeLessThan(10);
    }
  });
});

/** Runs an action. Returns the milliseconds of processor time of each turn of the event loop in the meantime. */
async function turnsOf<T>(
  action: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: readonly number[] }> {
  const turns: number[] = [];
  const over = new AbortController();
  let before = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    turns.push((user + system) / 1_000);
    before = process.cpuUsage();
    if (!over.signal.aborted) setImmediate(turn);
  };
  const pending = action().finally(() => over.abort());
  turn();
  return { result: await pending, turns };
}

test('an authority of the attack is a certificate', () => {
  expect(new X509Certificate(many.at(-1) ?? '').ca).toBe(true);
});
