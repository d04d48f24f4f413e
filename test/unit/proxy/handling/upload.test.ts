import { describe, expect, test } from '@jest/globals';
import { createCounters } from '../../../../src/proxy/counters.ts';
import type { ForwardedRequest } from '../../../../src/proxy/handling/forwarded-request.ts';
import { Upload } from '../../../../src/proxy/handling/upload.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { createQuotas } from '../../../../src/proxy/limits/quota.ts';

const body = Buffer.alloc(10_000);

/** The upload of a body that arrived with its head. */
function uploadWithin(bufferedBytes: number) {
  const counters = createCounters();
  const limits = { ...defaultLimits, bufferedBytes };
  const plane = { limits, counters, quotas: createQuotas(limits, counters) };
  const exchange = { address: '192.0.2.1', client: { takeContent: () => body }, plane };
  const failures: string[] = [];
  // An upload needs no more of it.
  const upload = new Upload(exchange as unknown as ForwardedRequest, { copies: [], held: [] }, (reason) =>
    failures.push(reason),
  );
  return { upload, counters, failures };
}

describe('a body that arrived with its head', () => {
  test('is accounted for as long as a retry may need it', () => {
    const { upload, counters } = uploadWithin(1_000_000);
    expect(upload.begin()).toBeUndefined();
    upload.connected();
    expect([upload.content, upload.mayBeginAgain()]).toEqual([body, true]);
    expect(counters.buffered.used).toBeGreaterThanOrEqual(body.length);
    upload.forget();
    expect([upload.content, upload.mayBeginAgain(), upload.begin()]).toEqual([undefined, false, undefined]);
    expect(counters.buffered.used).toBe(0);
  });

  test('is dropped at the first connection if there is no room to retain it', () => {
    const { upload, counters, failures } = uploadWithin(20_000);
    expect(upload.content).toBe(body);
    upload.connected();
    expect([upload.content, upload.mayBeginAgain(), upload.begin()]).toEqual([undefined, false, undefined]);
    expect(counters.buffered.used).toBe(0);
    expect(failures).toEqual([]);
  });

  test('is dropped with the request', () => {
    const { upload, counters } = uploadWithin(1_000_000);
    upload.stop();
    expect([upload.content, upload.begin()]).toEqual([undefined, undefined]);
    expect(counters.buffered.used).toBe(0);
  });
});
