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
