import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createSharedTraces, usedTracesIn } from '../../../../src/proxy/workers/shared-traces.ts';

const now = 1_700_000_000_000;

function nonces(count: number): readonly string[] {
  return Array.from({ length: count }, () => randomBytes(16).toString('base64url'));
}

test('a trace is used once in all threads', () => {
  const memory = createSharedTraces();
  const [one, two] = [usedTracesIn(memory), usedTracesIn(memory)];
  for (const nonce of nonces(100)) {
    expect([one.add(nonce, now + 60_000, now), two.add(nonce, now + 60_000, now)]).toEqual([true, false]);
    expect(one.add(nonce, now + 60_000, now + 59_000)).toBe(false);
  }
});

test('a trace is forgotten only after its signature has become invalid', () => {
  const traces = usedTracesIn(createSharedTraces());
  const [first = '', second = ''] = nonces(2);
  expect([traces.add(first, now + 1_000, now), traces.add(second, now + 60_000, now)]).toEqual([true, true]);
  // The place of the first one is free again. The second one comes later.
  expect(traces.add(second, now + 60_000, now + 3_000)).toBe(false);
});

test('the number of remembered traces is limited', () => {
  const traces = usedTracesIn(createSharedTraces());
  const added = nonces(1_030).map((nonce) => traces.add(nonce, now + 60_000, now));
  expect(added.filter((isNew) => isNew)).toHaveLength(1_024);
  expect(nonces(1).map((nonce) => traces.add(nonce, now + 190_000, now + 130_000))).toEqual([true]);
});
