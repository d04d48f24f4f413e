import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SessionKeys } from '../../../../src/proxy/sessions/session-keys.ts';
import { longestToken, openToken, sealToken } from '../../../../src/proxy/sessions/token.ts';

function keyring(...ids: readonly string[]): SessionKeys {
  const keys = new SessionKeys();
  keys.replace(ids.map((id, index) => ({ id, secret: randomBytes(32).toString('base64url'), from: index })));
  return keys;
}

function currentOf(keys: SessionKeys) {
  const key = keys.current(Date.now());
  if (key === undefined) throw new Error('there is a key');
  return key;
}

const idOf = (): string => randomBytes(8).toString('base64url');
const state = {
  used: 1_790_000_000_000,
  assignments: [
    { backend: idOf(), endpoint: idOf(), started: 1_780_000_000_000, ends: 1_795_000_000_000 },
    { backend: idOf(), endpoint: idOf(), started: 1_770_000_000_000, ends: Infinity },
  ],
};

describe('tokens of sessions', () => {
  test('are read as they were written, and never look the same', () => {
    const keys = keyring('00000001');
    const tokens = [1, 2].map(() => sealToken(state, 'HTTPRoute/shop/cart 0', currentOf(keys)));
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) {
      expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(openToken(token, 'HTTPRoute/shop/cart 0', keys)).toEqual({ state, key: currentOf(keys) });
    }
  });

  test('of one rule mean nothing to another, to other keys, or to keys of another Gateway', () => {
    const keys = keyring('00000001');
    const token = sealToken(state, 'HTTPRoute/shop/cart 0', currentOf(keys));
    expect(openToken(token, 'HTTPRoute/shop/cart 1', keys)).toBeUndefined();
    expect(openToken(token, 'HTTPRoute/shop/cart 0', keyring('00000001'))).toBeUndefined();
    expect(openToken(token, 'HTTPRoute/shop/cart 0', keyring('00000002'))).toBeUndefined();
    expect(openToken(token, 'HTTPRoute/shop/cart 0', keyring())).toBeUndefined();
  });

  test('are void with any bit changed', () => {
    const keys = keyring('00000001');
    const bytes = Buffer.from(sealToken(state, 'r', currentOf(keys)), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const forged = Buffer.from(bytes);
      forged.writeUInt8(forged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(openToken(forged.toString('base64url'), 'r', keys)).toBeUndefined();
    }
  });

  test.each([
    '',
    'a',
    '=',
    'AAAA',
    '%00',
    'ä'.repeat(40),
    'A'.repeat(53),
    'A'.repeat(longestToken),
    'A'.repeat(1 << 20),
    '"x"',
  ])('text that is none is ignored (%#)', (text) => {
    expect(openToken(text, 'r', keyring('00000000'))).toBeUndefined();
  });

  test('every truncation is ignored', () => {
    const keys = keyring('00000001');
    const token = sealToken(state, 'r', currentOf(keys));
    for (let length = 0; length < token.length; length += 1)
      expect(openToken(token.slice(0, length), 'r', keys)).toBeUndefined();
  });

  test('hold the newest 16 assignments, within the longest length', () => {
    const keys = keyring('00000001');
    const assignments = Array.from({ length: 40 }, (_, index) => ({
      backend: idOf(),
      endpoint: idOf(),
      started: index,
      ends: Infinity,
    }));
    const token = sealToken({ used: 1, assignments }, 'r', currentOf(keys));
    expect(token.length).toBeLessThanOrEqual(longestToken);
    expect(openToken(token, 'r', keys)?.state.assignments.map(({ started }) => started)).toEqual(
      Array.from({ length: 16 }, (_, index) => 39 - index),
    );
  });
});

describe('the keys of sessions', () => {
  test('the newest in use is current; where the clock is behind all of them, the oldest', () => {
    const keys = new SessionKeys();
    const secret = randomBytes(32).toString('base64url');
    keys.replace([
      { id: '00000002', secret, from: 200 },
      { id: '00000001', secret, from: 100 },
    ]);
    expect([50, 100, 199, 200, 999].map((now) => keys.current(now)?.id)).toEqual([
      '00000001',
      '00000001',
      '00000001',
      '00000002',
      '00000002',
    ]);
  });

  test('malformed ones are left out', () => {
    const keys = new SessionKeys();
    keys.replace([
      { id: 'x', secret: randomBytes(32).toString('base64url'), from: 0 },
      { id: '00000001', secret: 'short', from: 0 },
    ]);
    expect(keys.current(1)).toBeUndefined();
  });
});
