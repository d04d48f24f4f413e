import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  decideFailurePolicy,
  noProbes,
  recordProbe,
  type ProbeRecord,
} from '../../../../src/webhook/configuration/failure-policy.ts';
import type { ProbeOutcome } from '../../../../src/webhook/configuration/probe.ts';
import type { FailurePolicy } from '../../../../src/core/admission/settings.ts';

const denied: ProbeOutcome = { type: 'denied' };
const admitted: ProbeOutcome = { type: 'admitted' };
const failed: ProbeOutcome = { type: 'failed', phase: 'tls', message: 'x509' };
const suspended: ProbeOutcome = { type: 'suspended', message: 'no such kind' };
const inconclusive: ProbeOutcome = { type: 'inconclusive', message: 'forbidden' };

function after(under: FailurePolicy, ...outcomes: readonly ProbeOutcome[]): ProbeRecord {
  return outcomes.reduce((record, outcome) => recordProbe(record, under, outcome), noProbes);
}

describe('the step to Fail', () => {
  test('comes after three proofs in a row', () => {
    expect(decideFailurePolicy('Fail', after('Ignore', denied, denied))).toBeUndefined();
    expect(decideFailurePolicy('Fail', after('Ignore', denied, denied, denied))).toMatchObject({
      to: 'Fail',
      reason: 'Proven',
    });
  });

  test.each([
    ['admitted', admitted],
    ['failed', failed],
    ['suspended', suspended],
    ['inconclusive', inconclusive],
  ])('begins anew when a probe is %s', (_, outcome) => {
    expect(decideFailurePolicy('Fail', after('Ignore', denied, denied, outcome, denied, denied))).toBeUndefined();
    expect(decideFailurePolicy('Fail', after('Ignore', denied, outcome, denied, denied, denied))).toMatchObject({
      to: 'Fail',
    });
  });

  test('is never taken where nobody asks for it', () => {
    expect(decideFailurePolicy('Ignore', after('Ignore', denied, denied, denied, denied))).toBeUndefined();
  });

  test('needs new proof after somebody else set Ignore', () => {
    const proven = after('Fail', denied, denied, denied);
    expect(decideFailurePolicy('Fail', recordProbe(proven, 'Ignore', denied))).toBeUndefined();
  });
});

describe('the way back to Ignore', () => {
  test('is taken after three probes in a row that did not arrive', () => {
    expect(decideFailurePolicy('Fail', after('Fail', failed, failed))).toBeUndefined();
    expect(decideFailurePolicy('Fail', after('Fail', failed, admitted, failed))).toMatchObject({
      to: 'Ignore',
      reason: 'Unreachable',
    });
    expect(decideFailurePolicy('Fail', after('Fail', failed, failed, denied, failed, failed))).toBeUndefined();
  });

  test('is not taken for probes that say nothing, and those do not excuse the others', () => {
    for (const outcome of [suspended, inconclusive]) {
      const many = Array.from({ length: 20 }, () => outcome);
      expect(decideFailurePolicy('Fail', after('Fail', ...many))).toBeUndefined();
    }
    expect(decideFailurePolicy('Fail', after('Fail', failed, inconclusive, failed, suspended, failed))).toMatchObject({
      to: 'Ignore',
    });
  });

  test('is taken at once where Fail is not wanted', () => {
    expect(decideFailurePolicy('Ignore', after('Fail', denied))).toMatchObject({ to: 'Ignore', reason: 'NotWanted' });
  });
});

test('nothing is decided before the first probe', () => {
  expect(decideFailurePolicy('Fail', noProbes)).toBeUndefined();
  expect(decideFailurePolicy('Ignore', noProbes)).toBeUndefined();
});

test('Fail is never set unless the last three probes under Ignore were denied', () => {
  const outcome = fc.constantFrom(denied, admitted, failed, suspended, inconclusive);
  const probes = fc.array(fc.tuple(fc.constantFrom<FailurePolicy>('Ignore', 'Fail'), outcome), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(probes, (sent) => {
      const record = sent.reduce((before, [under, result]) => recordProbe(before, under, result), noProbes);
      const last = sent.slice(-3);
      const proven = last.length === 3 && last.every(([under, { type }]) => under === 'Ignore' && type === 'denied');
      expect(decideFailurePolicy('Fail', record)?.to === 'Fail').toBe(proven);
    }),
  );
});
