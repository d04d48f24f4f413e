import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createCertificateSource } from '../../../../src/certificates/index.ts';
import { startSelfCheck, type SelfCheck } from '../../../../src/webhook/configuration/self-check.ts';

let reads: number;
let check: SelfCheck;

beforeEach(() => {
  jest.useFakeTimers();
  reads = 0;
  check = startSelfCheck({
    bundles: {
      read() {
        reads += 1;
        return Promise.reject(new Error('the API server cannot be reached'));
      },
      onChange: () => () => undefined,
    },
    certificates: createCertificateSource({ certificate: '', privateKey: '' }),
    address: { host: '127.0.0.1', port: 1 },
    serverName: 'hook.gates.svc',
  });
});

afterEach(async () => {
  await check.stop();
  jest.useRealTimers();
});

test('is repeated every two seconds while it has no result, because the replica is not ready until then', async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  const before = reads;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(reads - before).toBe(30);
  expect(check.problem()).toBe('the self-check has not called the TLS port yet');
});
