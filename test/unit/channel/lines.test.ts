import { expect, test } from '@jest/globals';
import { compactLineOf, lineOf } from '../../../src/channel/lines.ts';
import type { ToProxy } from '../../../src/channel/messages.ts';

test('a message is encoded once for all proxies', () => {
  const key = 'listener/a';
  const message: ToProxy = { type: 'transaction', id: 1, upserts: [], removals: [key] };
  expect(JSON.parse(lineOf(message).toString())).toEqual(message);
  expect(lineOf(message)).toBe(lineOf(message));
  expect(compactLineOf(message)).toBe(lineOf(message));
  expect(lineOf({ ...message })).not.toBe(lineOf(message));
});
