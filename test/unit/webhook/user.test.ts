import { expect, test } from '@jest/globals';
import { userIn } from '../../../src/webhook/user.ts';
import { admissionReview } from '../../support/webhook.ts';

const review = (username: string, name = 'cart'): Buffer =>
  Buffer.from(JSON.stringify(admissionReview({ name, userInfo: { username, groups: [] } })));

test('the user is read from a review, in one piece or many', () => {
  const body = review('system:serviceaccount:shop:deployer');
  const pieces = Array.from({ length: body.length }, (_, index) => body.subarray(index, index + 1));
  expect(userIn([body])).toBe('system:serviceaccount:shop:deployer');
  expect(userIn(pieces)).toBe('system:serviceaccount:shop:deployer');
});

test('a name in the review cannot replace the user', () => {
  const name = '"userInfo":{"username":"alice"';
  expect(userIn([review('mallory', name)])).toBe('mallory');
});

test('a long name is compared by its beginning', () => {
  expect(userIn([review(`alice${'x'.repeat(10_000)}`)])).toBe(`alice${'x'.repeat(251)}`);
});

test('a review that is written in another way has no known user', () => {
  expect(userIn([])).toBe('');
  expect(userIn([Buffer.from('{}')])).toBe('');
  expect(userIn([Buffer.from(JSON.stringify(admissionReview(), null, 2))])).toBe('');
  expect(userIn([review('alice', 'x'.repeat(5_000))])).toBe('');
});
