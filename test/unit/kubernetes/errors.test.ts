import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { apiError, ConnectionError } from '../../../src/kubernetes/errors.ts';
import { outcomeOf } from '../../../src/kubernetes/outcome.ts';

describe('failures', () => {
  test('say what the API server said', () => {
    const cause = { reason: 'FieldValueInvalid', message: 'no', field: 'spec.a' };
    const body = { reason: 'Invalid', message: 'it is invalid', details: { causes: [cause], retryAfterSeconds: 3 } };
    expect(apiError(422, body)).toMatchObject({
      status: 422,
      reason: 'Invalid',
      message: 'it is invalid',
      causes: [cause],
      retryAfter: 3_000,
    });
  });

  test('texts of the server cannot control a terminal or fill a log', () => {
    const hostile = '\u001b]0;x\u0007no\n';
    const error = apiError(403, {
      reason: hostile,
      message: hostile,
      details: { causes: [{ reason: hostile, message: hostile, field: hostile }] },
    });
    const safe = String.raw`\u001b]0;x\u0007no\n`;
    expect(error).toMatchObject({
      reason: safe,
      message: safe,
      causes: [{ reason: safe, message: safe, field: safe }],
    });
    expect(apiError(500, { message: 'x'.repeat(1_000_000) }).message).toBe(`${'x'.repeat(4095)}…`);
  });

  test('the header says when to come back, within reason', () => {
    expect(apiError(429, {}, '7').retryAfter).toBe(7_000);
    expect(apiError(429, {}, '86400').retryAfter).toBe(32_000);
    expect(apiError(503, {}, 'Wed, 21 Oct 2026 07:28:00 GMT').retryAfter).toBeUndefined();
  });

  test('any answer at all is survived', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 400, max: 599 }), (body, status) => {
        const error = apiError(status, body);
        expect(error).toMatchObject({ status, message: expect.any(String), reason: expect.any(String) });
      }),
    );
  });
});

describe('what became of a write', () => {
  test.each([
    [409, 'AlreadyExists', 'exists'],
    [409, 'Conflict', 'conflict'],
    [404, 'NotFound', 'notFound'],
    [403, 'Forbidden', 'forbidden'],
    [401, 'Unauthorized', 'forbidden'],
    [422, 'Invalid', 'invalid'],
    [400, 'BadRequest', 'invalid'],
    [413, 'RequestEntityTooLarge', 'invalid'],
    [429, 'TooManyRequests', 'unavailable'],
    [500, 'InternalError', 'unavailable'],
    [504, 'Timeout', 'unavailable'],
  ])('%i %s is %s', (status, reason, type) => {
    expect(outcomeOf(apiError(status, { reason, message: 'why' }))).toMatchObject({ type, message: 'why' });
  });

  test('no answer is unavailable', () => {
    expect(outcomeOf(new ConnectionError('refused'))).toEqual({ type: 'unavailable', message: 'refused' });
  });
});
