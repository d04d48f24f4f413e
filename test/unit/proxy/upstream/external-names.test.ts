import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ExternalNames, type NameState } from '../../../../src/proxy/upstream/external-names.ts';
import { eventually } from '../../../support/eventually.ts';

test('the order of the addresses in an answer has no effect on those that are used', async () => {
  const addresses = Array.from({ length: 600 }, (_, index) => `8.8.${index >> 8}.${index & 255}`);
  let lookups = 0;
  const names = new ExternalNames({
    lookup: {
      lookup: async () => {
        lookups += 1;
        return { addresses: lookups % 2 === 0 ? addresses.toReversed() : addresses, validFor: 0 };
      },
      close: () => undefined,
    },
    allowed: [],
    limits: { nameRefreshMin: 1, nameRefreshMax: 1, nameLookups: 1, nameAddresses: 4 },
    counters: { nameLookups: 0, nameFailures: 0, internalAddresses: 0 },
    report: () => undefined,
  });
  const states: NameState[] = [];
  names.follow('app.example.com', (state) => void states.push(state));
  await eventually(() => expect(lookups).toBeGreaterThan(3));
  names.close();
  expect(states).toEqual([
    { addresses: [], problem: 'name-unresolved' },
    { addresses: ['8.8.0.0', '8.8.0.1', '8.8.0.10', '8.8.0.100'] },
  ]);
});

test('an answer is used the longer, the more addresses it has, whatever its TTL', async () => {
  const lookups = new Map<string, number>();
  const names = new ExternalNames({
    lookup: {
      lookup: async (hostname) => {
        lookups.set(hostname, (lookups.get(hostname) ?? 0) + 1);
        const length = hostname === 'large.example.com' ? 600 : 1;
        return { addresses: Array.from({ length }, (_, index) => `8.8.${index >> 8}.${index & 255}`), validFor: 0 };
      },
      close: () => undefined,
    },
    allowed: [],
    limits: { nameRefreshMin: 1, nameRefreshMax: 60_000, nameLookups: 2, nameAddresses: 4 },
    counters: { nameLookups: 0, nameFailures: 0, internalAddresses: 0 },
    report: () => undefined,
  });
  for (const hostname of ['large.example.com', 'small.example.com']) names.follow(hostname, () => undefined);
  await eventually(() => expect(lookups.get('small.example.com')).toBeGreaterThan(3));
  names.close();
  expect(lookups.get('large.example.com')).toBe(1);
});

test('few lookups of names whose last answer was large run at a time, also after failures', async () => {
  const lookups = new Map<string, number>();
  const open: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const names = new ExternalNames({
    lookup: {
      lookup: async (hostname) => {
        const round = (lookups.get(hostname) ?? 0) + 1;
        lookups.set(hostname, round);
        running += 1;
        if (round > 1) most = Math.max(most, running);
        await new Promise<void>((resolve) => void open.push(resolve));
        running -= 1;
        if (round % 3 === 2) throw new Error('SERVFAIL');
        return { addresses: Array.from({ length: 100 }, (_, index) => `8.8.8.${index}`), validFor: 0 };
      },
      close: () => undefined,
    },
    allowed: [],
    limits: { nameRefreshMin: 1, nameRefreshMax: 1, nameLookups: 20, nameAddresses: 4 },
    counters: { nameLookups: 0, nameFailures: 0, internalAddresses: 0 },
    report: () => undefined,
  });
  for (let index = 0; index < 4; index += 1) names.follow(`n${index}.example.com`, () => undefined);
  // The lookups of new names start a few at a time.
  expect(running).toBe(2);
  await eventually(() => expect(running).toBe(4));
  for (const end of open.splice(0)) end();
  for (let round = 1; round < 8; round += 1) {
    await eventually(() => expect(running).toBe(2));
    // Time in which many others could start.
    await delay(100);
    for (const end of open.splice(0)) end();
  }
  names.close();
  expect(most).toBe(2);
});
