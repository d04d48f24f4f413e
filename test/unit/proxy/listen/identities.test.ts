import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../../src/certificates/index.ts';
import type { ListenerConfig } from '../../../../src/core/routing/config.ts';
import { Identities, type CertificatePair } from '../../../../src/proxy/listen/identities.ts';
import { differentCertificates, issueLeaf } from '../../../support/certificates.ts';
import { listenerConfig } from '../../../support/config.ts';

const name = 'shop.example.com';
let servers: Authority;
let serving: CertificatePair;

beforeAll(async () => {
  servers = await createAuthority();
  serving = await issueLeaf(servers, { dnsNames: [name] });
});

describe('the certificates of a listener', () => {
  const load = (...secrets: readonly string[]) =>
    new Identities((secret) => ({ 'shop/shop': serving, 'shop/broken': { cert: 'no', key: 'no' } })[secret]).of({
      certificates: secrets,
    });

  test('are used without those that cannot be', () => {
    const loaded = load('shop/gone', 'shop/broken', 'shop/shop');
    expect(loaded.first).toBe(serving);
    expect(loaded.problems).toEqual([expect.stringContaining('shop/gone'), expect.stringContaining('shop/broken')]);
    expect(loaded.contextFor('other.example.com')).toBe(loaded.contextFor(name));
    expect(loaded.contextFor(name)).toBeDefined();
  });

  test('that are none are a problem', () => {
    const loaded = load();
    expect(loaded.problems).toHaveLength(1);
    expect(loaded.contextFor(name)).toBeUndefined();
  });

  test('are chosen by the server name, the first one for other names', async () => {
    const other = await issueLeaf(servers, { dnsNames: ['other.example.com'] });
    const pairs = new Map([
      ['shop/shop', serving],
      ['shop/other', other],
    ]);
    const loaded = new Identities((secret) => pairs.get(secret)).of({ certificates: [...pairs.keys()] });
    expect(loaded.contextFor('other.example.com')).not.toBe(loaded.contextFor(name));
    expect(loaded.contextFor('unknown.example.com')).toBe(loaded.contextFor(name));
  });

  test.each([
    ['shop.example.com', 'first'],
    ['a.example.org', 'second'],
    ['a.b.example.org', 'first'],
    ['example.org', 'first'],
    ['', 'first'],
    ['only-common.example.net', 'third'],
    ['other.example.net', 'first'],
    ['common.example.com', 'first'],
  ])('cover %j', async (serverName, wanted) => {
    const pairs = new Map([
      ['first', await issueLeaf(servers, { dnsNames: [name], commonName: 'common.example.com' })],
      ['second', await issueLeaf(servers, { dnsNames: ['x.example.com', '*.example.org'] })],
      ['third', await issueLeaf(servers, { commonName: 'only-common.example.net' })],
    ]);
    const identities = new Identities((secret) => pairs.get(secret));
    const context = (secret: string) => identities.of({ certificates: [secret] }).contextFor('');
    expect(identities.of({ certificates: [...pairs.keys()] }).contextFor(serverName)).toBe(context(wanted));
  });
});

describe('identities', () => {
  const validating = (count: number): Pick<ListenerConfig, 'clientValidation'> => ({
    clientValidation: { authorities: differentCertificates(servers.certificate, count), mode: 'AllowValidOnly' },
  });

  test('are loaded once for equal listeners and validations, and kept while they are used', async () => {
    const listeners = (count: number) =>
      ['one', 'other'].map((each) =>
        listenerConfig(each, { protocol: 'HTTPS', certificates: ['shop/shop'], ...validating(count) }),
      );
    const contexts = (identities: Identities, count: number) =>
      new Set(listeners(count).map((listener) => identities.of(listener).contextFor(name)));
    const first = await new Identities(() => serving).renew(listeners(2));
    const [context] = contexts(first, 2);
    expect(contexts(first, 2)).toEqual(new Set([context]));
    const second = await first.renew(listeners(2));
    expect([...contexts(second, 2)]).toEqual([context]);
    // Without a listener that uses it, it is not kept.
    const third = await (await second.renew(listeners(1))).renew(listeners(2));
    expect([...contexts(third, 2)][0]).not.toBe(context);
  });

  test('are loaded again if the Secret changes', async () => {
    let pair = serving;
    const before = new Identities(() => pair);
    const use = { certificates: ['shop/shop'] };
    const context = before.of(use).contextFor(name);
    pair = await issueLeaf(servers, { dnsNames: [name] });
    const after = await before.renew([listenerConfig('secure', use)]);
    expect(after.of(use).first).toBe(pair);
    expect(after.of(use).contextFor(name)).not.toBe(context);
  });

  test('load at most 5,000 CA certificates, and the others stay in use', () => {
    const identities = new Identities(() => serving);
    const secrets = Array.from({ length: 52 }, (_, index) => `shop/s${index}`);
    const loaded = identities.of({ certificates: secrets, ...validating(100) });
    expect(loaded.problems).toEqual([
      expect.stringContaining('shop/s50'),
      'the certificate of Secret "shop/s51" cannot be used: all certificates of the data plane together would load more than 5000 CA certificates for client certificates. Use fewer certificates or fewer CA certificates',
    ]);
    expect(loaded.contextFor(name)).toBeDefined();
    expect(identities.of({ certificates: secrets }).problems).toEqual([]);
  });
});
