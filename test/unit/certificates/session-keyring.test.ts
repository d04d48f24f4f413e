import { describe, expect, test } from '@jest/globals';
import { renewedKeys, SessionKeyring, type SessionKeyMaterial } from '../../../src/certificates/session-keyring.ts';
import type { SecretText } from '../../../src/certificates/index.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { until } from '../../support/until.ts';
import { MemorySecretStore } from '../../support/certificate-stores.ts';

const day = 86_400_000;
const log = createLogger('silent');

function keyringOn(secrets: MemorySecretStore, clock: { now: number }) {
  const keyring = new SessionKeyring({ secrets, log, now: () => clock.now });
  const told: (readonly SessionKeyMaterial[])[] = [];
  keyring.onKeys((keys) => told.push(keys));
  return { keyring, told };
}

describe('the keys for session persistence', () => {
  test('the first one is used at once; each further one after ten minutes; former ones stay for 90 days', () => {
    let keys = renewedKeys([], 0);
    expect(keys).toMatchObject([{ from: 0, id: expect.stringMatching(/^[0-9a-f]{8}$/) }]);
    const [first] = keys;
    expect(renewedKeys(keys, 30 * day - 1)).toEqual(keys);
    keys = renewedKeys(keys, 30 * day);
    expect(keys).toMatchObject([first ?? {}, { from: 30 * day + 600_000 }]);
    expect(renewedKeys(keys, 30 * day + 1)).toEqual(keys);
    for (let now = 31 * day; now < 400 * day; now += day) {
      keys = renewedKeys(keys, now);
      expect(keys.length).toBeLessThanOrEqual(5);
      expect(keys.some(({ from }) => from <= now)).toBe(true);
      expect(keys.includes(first as SessionKeyMaterial)).toBe(now < 120 * day + 600_000);
    }
  });

  test('all replicas have the same keys, whoever created them', async () => {
    const secrets = new MemorySecretStore();
    const clock = { now: 1_000 };
    const replicas = [keyringOn(secrets, clock), keyringOn(secrets, clock)];
    await Promise.all(replicas.map(async ({ keyring }) => (await keyring.round()) || (await keyring.round())));
    expect(replicas[0]?.told).toHaveLength(1);
    expect(replicas[1]?.told).toEqual(replicas[0]?.told);
    clock.now += 31 * day;
    for (const { keyring } of replicas) await keyring.round();
    expect(replicas[0]?.told[1]).toHaveLength(2);
    expect(replicas[1]?.told).toEqual(replicas[0]?.told);
  });

  test.each<SecretText | undefined>([
    undefined,
    {},
    { 'keys.json': 'x' },
    { 'keys.json': '{"version":1,"keys":[{"id":"x"}]}' },
  ])('a Secret that was lost or damaged gets the known keys again: %j', async (damaged) => {
    const secrets = new MemorySecretStore();
    const { keyring, told } = keyringOn(secrets, { now: 1_000 });
    await keyring.round();
    const kept = secrets.cell.value;
    secrets.cell.write(damaged);
    await keyring.round();
    expect(secrets.cell.value).toEqual(kept);
    expect(told).toHaveLength(1);
  });

  test('an unreachable store does not keep data planes waiting, and is tried again', async () => {
    const secrets = new MemorySecretStore();
    let isReachable = false;
    const { keyring, told } = keyringOn(
      Object.assign(Object.create(secrets) as MemorySecretStore, {
        read: () => (isReachable ? secrets.read() : Promise.reject(new Error('forbidden'))),
        onChange: () => () => undefined,
      }),
      { now: 1_000 },
    );
    const rounds = keyring.start();
    await keyring.attempted;
    expect(told).toEqual([]);
    isReachable = true;
    rounds.wake();
    await until(() => expect(told).toHaveLength(1));
    await rounds.stop();
  });
});
