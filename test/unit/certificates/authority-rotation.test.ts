import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AuthorityRotation, readAuthorities, splitPem } from '../../../src/certificates/index.ts';
import { issueSigningAuthority } from '../../../src/certificates/authority-rotation.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { eventually } from '../../support/eventually.ts';
import { MemoryBundleStore, MemorySecretStore } from '../../support/certificate-stores.ts';

const policy = { authorityLifetime: 900_000, leafLifetime: 90_000, propagation: 10_000, clockSkew: 5_000 };
const start = Date.UTC(2026, 2, 1);

let secrets: MemorySecretStore;
let bundles: MemoryBundleStore;
let now: number;
let logged: string[];
let rotation: AuthorityRotation;

beforeEach(() => {
  secrets = new MemorySecretStore();
  bundles = new MemoryBundleStore();
  bundles.cell.write([]);
  now = start;
  logged = [];
  rotation = leader();
});

function leader(stores = { secrets, bundles }): AuthorityRotation {
  return new AuthorityRotation({
    ...stores,
    policy,
    log: createLogger('info', { write: (line) => logged.push(line) }),
    now: () => now,
  });
}

function state() {
  const read = readAuthorities(secrets.cell.value ?? {});
  if (read.type === 'unreadable') throw new Error(read.problem);
  return read.state;
}

/** Rounds until nothing is left to do; the kinds of steps that were taken. */
async function work(): Promise<readonly string[]> {
  const steps: string[] = [];
  for (;;) {
    const step = await rotation.round();
    if (step.type === 'wait') return steps;
    steps.push(step.type === 'store' ? step.reason : step.type);
  }
}

describe('AuthorityRotation', () => {
  test('makes an authority that the API server then trusts', async () => {
    expect(await work()).toEqual(['issue', 'publish']);
    const { current } = state();
    expect(bundles.cell.value).toEqual([current?.certificate]);
    expect(splitPem(current?.certificate ?? '')).toEqual([current?.certificate]);
    const certificate = new X509Certificate(current?.certificate ?? '');
    expect(certificate.ca).toBe(true);
    expect(certificate.validToDate).toEqual(new Date(start + 900_000));
    expect(logged.join('')).not.toContain('PRIVATE KEY');
  });

  test('goes through a whole rotation, step by step', async () => {
    await work();
    const old = state().current?.certificate;
    now += 600_000;
    expect(await work()).toEqual(['issue', 'publish']);
    const next = state().next?.certificate;
    expect(state().current?.certificate).toBe(old);
    expect(bundles.cell.value).toEqual([old, next]);
    now += 10_000;
    expect(await work()).toEqual(['promoted']);
    expect(state()).toMatchObject({ current: { certificate: next }, retired: [{ certificate: old }] });
    expect(bundles.cell.value).toEqual([old, next]);
    now += 100_000;
    expect(await work()).toEqual(['dropped', 'publish']);
    expect(bundles.cell.value).toEqual([next]);
    const names = [old, next].map((pem) => new X509Certificate(pem ?? '').subject);
    expect(new Set(names).size).toBe(2);
  });

  test('waits anew for a bundle that somebody else changed', async () => {
    await work();
    now += 600_000;
    await work();
    now += 9_000;
    bundles.cell.write([]);
    expect(await work()).toEqual(['publish']);
    now += 9_000;
    expect(await work()).toEqual([]);
    now += 1_000;
    expect(await work()).toEqual(['promoted']);
  });

  test('reads the configuration before the Secret, so that no older bundle replaces a newer one', async () => {
    await work();
    const order: string[] = [];
    const spy = <Store extends object>(name: string, store: Store): Store =>
      new Proxy(store, {
        get(target, property) {
          if (property === 'read') order.push(name);
          return (Reflect.get(target, property) as () => unknown).bind(target);
        },
      });
    await leader({ secrets: spy('secret', secrets), bundles: spy('configuration', bundles) }).round();
    expect(order).toEqual(['configuration', 'secret']);
  });

  test('leaves the work to the one who was faster', async () => {
    const other = leader();
    const steps = await Promise.all([rotation.round(), other.round()]);
    expect(steps.map(({ type }) => type)).toEqual(['issue', 'issue']);
    const winner = state().current?.certificate;
    await work();
    expect(bundles.cell.value).toEqual([winner]);
  });

  test('replaces a Secret that cannot be read, and keeps trusting what was trusted', async () => {
    await work();
    const old = state().current?.certificate;
    secrets.cell.write({ 'authorities.json': '{' });
    expect(await work()).toEqual(['issue', 'publish']);
    expect(state()).toMatchObject({ next: {}, retired: [{ certificate: old }] });
    expect(bundles.cell.value).toEqual([state().next?.certificate, old]);
    expect(logged.join('')).toContain('unreadable');
  });

  test.each([
    ['a key that is not one', async () => ({ privateKey: '-----BEGIN PRIVATE KEY-----\nSECRET' })],
    ['a certificate that is not one', async () => ({ certificate: 'SECRET' })],
    ['the key of another one', async () => ({ privateKey: (await issueSigningAuthority(start, now)).privateKey })],
  ])('replaces an authority with %s, and keeps trusting what was trusted', async (_name, change) => {
    await work();
    const { current } = state();
    secrets.cell.write({
      'authorities.json': JSON.stringify({ version: 1, current: { ...current, ...(await change()) }, retired: [] }),
    });
    expect(await work()).toEqual(['issue', 'publish']);
    expect(state()).toMatchObject({ next: {}, retired: [{ certificate: current?.certificate }] });
    now += 10_000;
    expect(await work()).toEqual(['promoted']);
    expect(logged.join('')).toContain('it will be replaced');
    expect(logged.join('')).not.toContain('SECRET');
  });

  test('replaces a Secret with a retired certificate that is not one, which the API server would not accept', async () => {
    await work();
    const { current } = state();
    const retired = [{ certificate: 'SECRET', until: start + 900_000 }];
    secrets.cell.write({ 'authorities.json': JSON.stringify({ version: 1, current, retired }) });
    expect(await work()).toEqual(['issue', 'publish']);
    expect(bundles.cell.value).toEqual([state().next?.certificate, current?.certificate]);
  });

  test('waits for a configuration', async () => {
    bundles.cell.write(undefined);
    expect(await work()).toEqual(['issue']);
    bundles.cell.write([]);
    expect(await work()).toEqual(['publish']);
  });

  test('refuses a policy with which calls would fail', () => {
    const unsafe = { ...policy, leafLifetime: 500_000 };
    expect(() => new AuthorityRotation({ secrets, bundles, policy: unsafe, log: createLogger('silent') })).toThrow(
      'must live more than',
    );
  });

  test('works by itself until it is stopped', async () => {
    const rounds = rotation.start();
    await eventually(() => expect(secrets.cell.value).toBeDefined());
    rounds.wake();
    await eventually(() => expect(bundles.cell.value).toHaveLength(1));
    bundles.cell.write([]);
    await eventually(() => expect(bundles.cell.value).toHaveLength(1));
    await rounds.stop();
    bundles.cell.write([]);
    expect(bundles.cell.value).toEqual([]);
  });

  test('replaces a successor that was issued while the clock was ahead', async () => {
    await work();
    now += 600_000;
    await work();
    now -= 600_000;
    await work();
    const { next } = state();
    expect(next?.issuedAt).toBe(now);
    now += 10_000;
    await work();
    expect(state().current).toEqual(next);
  });
});
