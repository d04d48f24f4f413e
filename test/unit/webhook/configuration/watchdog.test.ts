import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { countReady } from '../../../../src/webhook/configuration/endpoints.ts';
import { deadSince } from '../../../../src/webhook/configuration/watchdog.ts';

describe('deadSince', () => {
  test('begins when nobody is ready under Fail, and stays', () => {
    expect(deadSince(undefined, { readyEndpoints: 0, mayBlock: true }, 5)).toBe(5);
    expect(deadSince(5, { readyEndpoints: 0, mayBlock: true }, 9)).toBe(5);
  });

  test('ends when somebody is ready, or nobody is blocked', () => {
    expect(deadSince(5, { readyEndpoints: 1, mayBlock: true }, 9)).toBeUndefined();
    expect(deadSince(5, { readyEndpoints: 0, mayBlock: false }, 9)).toBeUndefined();
  });
});

describe('countReady', () => {
  test('counts over slices; what is not known counts as ready', () => {
    const endpoints = (...ready: readonly unknown[]) => ({
      endpoints: ready.map((value) => ({ addresses: ['10.0.0.1'], conditions: { ready: value } })),
    });
    expect(countReady([endpoints(true, false), endpoints(undefined), { endpoints: null }, { endpoints: [{}] }])).toBe(
      3,
    );
    expect(countReady([endpoints(false)])).toBe(0);
    expect(countReady([])).toBe(0);
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.jsonValue(), (json) => expect(countReady([json])).toBeGreaterThanOrEqual(0)));
    fc.assert(
      fc.property(fc.jsonValue(), (json) =>
        expect(countReady([{ endpoints: [json] }, json])).toBeGreaterThanOrEqual(0),
      ),
    );
  });
});
