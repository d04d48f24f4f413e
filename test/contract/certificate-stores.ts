import { afterEach, describe, expect, test } from '@jest/globals';
import type { BundleStore, SecretStore } from '../../src/certificates/index.ts';

/** A store whose Secret does not exist yet, and what ends its life. */
export interface SecretGround {
  readonly store: SecretStore;
  close(): Promise<void>;
}

/** A store whose configuration exists and trusts nothing yet. */
export interface BundleGround {
  readonly store: BundleStore;
  /** Somebody else changes the configuration, but not what it trusts. */
  touch(): Promise<void>;
  remove(): Promise<void>;
  close(): Promise<void>;
  /** PEM as `splitPem` gives it. */
  readonly certificates: readonly [string, string];
}

const soon = 10_000;

/** Resolves when the store tells of a change. */
function nextChange(store: Pick<SecretStore, 'onChange'>): Promise<'changed'> {
  return new Promise((resolve) => {
    const stop = store.onChange(() => {
      stop();
      resolve('changed');
    });
  });
}

/** What every `SecretStore` has to keep. */
export function secretStoreContract(name: string, prepare: () => Promise<SecretGround>): void {
  describe(`the Secret store of ${name}`, () => {
    let ground: SecretGround;
    const open = async (): Promise<SecretStore> => {
      ground = await prepare();
      return ground.store;
    };
    afterEach(() => ground.close());

    test('knows that there is none, and reads what was created', async () => {
      const store = await open();
      expect(await store.read()).toBeUndefined();
      expect(await store.create({ a: 'ä\n', b: '' })).toBe('created');
      expect((await store.read())?.data).toEqual({ a: 'ä\n', b: '' });
    });

    test('creates once only', async () => {
      const store = await open();
      const outcomes = await Promise.all([store.create({ a: '1' }), store.create({ a: '2' })]);
      expect([...outcomes].sort()).toEqual(['conflict', 'created']);
      expect((await store.read())?.data).toEqual({ a: outcomes[0] === 'created' ? '1' : '2' });
    });

    test('replaces everything, but only what was read', async () => {
      const store = await open();
      await store.create({ a: '1', b: '1' });
      const version = (await store.read())?.version ?? '';
      expect(await store.replace({ a: '2' }, version)).toBe('replaced');
      expect((await store.read())?.data).toEqual({ a: '2' });
      expect((await store.read())?.version).not.toBe(version);
      expect(await store.replace({ a: '3' }, version)).toBe('conflict');
      expect((await store.read())?.data).toEqual({ a: '2' });
    });

    test('does not create by replacing', async () => {
      const store = await open();
      expect(await store.replace({ a: '1' }, '1')).toBe('conflict');
      expect(await store.read()).toBeUndefined();
    });

    test(
      'tells of changes',
      async () => {
        const store = await open();
        const changed = nextChange(store);
        await store.create({ a: '1' });
        await expect(changed).resolves.toBe('changed');
      },
      soon,
    );
  });
}

/** What every `BundleStore` has to keep. */
export function bundleStoreContract(name: string, prepare: () => Promise<BundleGround>): void {
  describe(`the bundle store of ${name}`, () => {
    let ground: BundleGround;
    const open = async (): Promise<BundleStore> => {
      ground = await prepare();
      return ground.store;
    };
    const version = async (store: BundleStore): Promise<string> => (await store.read())?.version ?? '';
    afterEach(() => ground.close());

    test('trusts nothing at first, and then what was published', async () => {
      const store = await open();
      const [one, other] = ground.certificates;
      expect((await store.read())?.certificates).toEqual([]);
      expect(await store.publish([one, other], await version(store))).toBe('published');
      expect((await store.read())?.certificates).toEqual([one, other]);
      expect(await store.publish([other], await version(store))).toBe('published');
      expect((await store.read())?.certificates).toEqual([other]);
    });

    test('publishes only onto the configuration that was read', async () => {
      const store = await open();
      const read = await version(store);
      await ground.touch();
      expect(await version(store)).not.toBe(read);
      expect(await store.publish([ground.certificates[0]], read)).toBe('conflict');
      expect((await store.read())?.certificates).toEqual([]);
    });

    test('never creates a configuration', async () => {
      const store = await open();
      const read = await version(store);
      await ground.remove();
      expect(await store.read()).toBeUndefined();
      expect(await store.publish([ground.certificates[0]], read)).toBe('conflict');
      expect(await store.read()).toBeUndefined();
    });

    test(
      'tells of changes',
      async () => {
        const store = await open();
        const changed = nextChange(store);
        await ground.touch();
        await expect(changed).resolves.toBe('changed');
      },
      soon,
    );
  });
}
