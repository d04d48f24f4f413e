import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { SharedByText } from '../../../src/certificates/shared-by-text.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a text is read once as long as somebody uses its value', () => {
  const shared = new SharedByText<{ readonly text: string }>();
  const one = shared.get('a', () => ({ text: 'a' }));
  expect(shared.get('a', () => ({ text: 'read again' }))).toBe(one);
  expect(shared.get('b', () => ({ text: 'b' }))).toEqual({ text: 'b' });
});

test('a value that nobody uses is forgotten', async () => {
  const shared = new SharedByText<{ readonly text: string }>();
  shared.get('a', () => ({ text: 'a' }));
  let value = shared.get('a', () => ({ text: 'read again' })).text;
  for (let look = 0; look < 100 && value === 'a'; look += 1) {
    // A value that was read stays until the next turn.
    await delay(1);
    collect();
    await delay(1);
    value = shared.get('a', () => ({ text: 'read again' })).text;
  }
  expect(value).toBe('read again');
});
