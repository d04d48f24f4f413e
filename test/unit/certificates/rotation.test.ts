import { describe, expect, test } from '@jest/globals';
import {
  bundleOf,
  checkRotationPolicy,
  defaultRotationPolicy,
  nextStep,
  renewalTime,
  type AuthorityState,
  type RotationPolicy,
  type SigningAuthority,
} from '../../../src/certificates/rotation.ts';

const policy: RotationPolicy = { authorityLifetime: 900, leafLifetime: 90, propagation: 10, clockSkew: 5 };

function authority(name: string, issuedAt = 0): SigningAuthority {
  return { certificate: name, privateKey: `key of ${name}`, issuedAt, notAfter: issuedAt + policy.authorityLifetime };
}

const a = authority('a');
const b = authority('b', 600);
const settled: AuthorityState = { current: a, retired: [] };
const prepared: AuthorityState = { current: a, next: b, retired: [] };

function stepAt(now: number, state: AuthorityState | undefined, certificates?: readonly string[], since = 0) {
  return nextStep({ state, published: certificates && { certificates, since }, now, policy });
}

describe('nextStep', () => {
  test('issues a first authority that signs at once, where nothing is trusted', () => {
    expect(stepAt(0, undefined)).toEqual({ type: 'issue', place: 'current', rest: { retired: [] } });
    expect(stepAt(0, undefined, [])).toEqual({ type: 'issue', place: 'current', rest: { retired: [] } });
  });

  test('keeps trusting the leaves of authorities whose Secret was lost', () => {
    expect(stepAt(50, undefined, ['x'])).toEqual({
      type: 'issue',
      place: 'next',
      rest: { retired: [{ certificate: 'x', until: 50 + 90 + 2 * 5 }] },
    });
  });

  test('publishes what has to be trusted, and nothing else', () => {
    expect(stepAt(1, settled, [])).toEqual({ type: 'publish', certificates: ['a'] });
    expect(stepAt(1, settled, ['a', 'x'])).toEqual({ type: 'publish', certificates: ['a'] });
    expect(stepAt(1, settled, ['x'])).toEqual({ type: 'publish', certificates: ['a'] });
  });

  test('waits for renewal, configuration or not', () => {
    expect(stepAt(1, settled, ['a'])).toEqual({ type: 'wait', until: 600 });
    expect(stepAt(1, settled)).toEqual({ type: 'wait', until: 600 });
  });

  test('issues a successor at two thirds of the life', () => {
    expect(stepAt(599, settled, ['a'])).toMatchObject({ type: 'wait' });
    expect(stepAt(600, settled, ['a'])).toEqual({ type: 'issue', place: 'next', rest: settled });
  });

  test('lets the successor sign only after it was published for long enough', () => {
    expect(stepAt(601, prepared, ['a'])).toEqual({ type: 'publish', certificates: ['a', 'b'] });
    expect(stepAt(612, prepared, ['b', 'a'], 603)).toEqual({ type: 'wait', until: 613 });
    expect(stepAt(613, prepared, ['b', 'a'], 603)).toEqual({
      type: 'store',
      reason: 'promoted',
      state: { current: b, retired: [{ certificate: 'a', until: 613 + 90 + 2 * 5 }] },
    });
  });

  test('never promotes without a configuration that trusts the successor', () => {
    expect(stepAt(700, prepared)).toMatchObject({ type: 'wait' });
    expect(stepAt(700, prepared, ['a'], 0)).toMatchObject({ type: 'publish' });
  });

  test('drops an authority when its last leaf has expired', () => {
    const promoted: AuthorityState = { current: b, retired: [{ certificate: 'a', until: 713 }] };
    expect(stepAt(712, promoted, ['a', 'b'])).toEqual({ type: 'wait', until: 713 });
    expect(stepAt(713, promoted, ['a', 'b'])).toEqual({
      type: 'store',
      reason: 'dropped',
      state: { current: b, retired: [] },
    });
  });

  test('replaces a successor that expired while nobody could publish it', () => {
    expect(stepAt(b.notAfter, prepared)).toEqual({ type: 'issue', place: 'next', rest: settled });
  });

  test('replaces authorities that were issued while a clock was ahead', () => {
    const ahead = authority('x', 100);
    expect(stepAt(90, { current: ahead, retired: [] }, ['x'])).toMatchObject({ type: 'wait' });
    expect(stepAt(89, { current: ahead, retired: [] }, ['x'])).toEqual({
      type: 'issue',
      place: 'next',
      rest: { current: ahead, retired: [] },
    });
    expect(stepAt(89, { current: a, next: ahead, retired: [] }, ['a', 'x'])).toEqual({
      type: 'issue',
      place: 'next',
      rest: settled,
    });
  });

  test('goes on from an authority without a key', () => {
    const lost: AuthorityState = { next: b, retired: [{ certificate: 'x', until: 2_000 }] };
    expect(stepAt(601, lost, ['x'])).toEqual({ type: 'publish', certificates: ['b', 'x'] });
    expect(stepAt(620, lost, ['b', 'x'], 602)).toMatchObject({
      type: 'store',
      state: { current: b, retired: [{ certificate: 'x', until: 2_000 }] },
    });
    expect(stepAt(601, { retired: [] }, [])).toEqual({ type: 'issue', place: 'next', rest: { retired: [] } });
  });
});

test('bundleOf lists each certificate once, the signing one first', () => {
  const retired = ['b', 'c', 'a'].map((certificate) => ({ certificate, until: 1 }));
  expect(bundleOf({ current: b, next: a, retired })).toEqual(['b', 'a', 'c']);
});

test('renewalTime is at two thirds', () => {
  expect(renewalTime({ issuedAt: 300, notAfter: 600 })).toBe(500);
});

describe('checkRotationPolicy', () => {
  test('accepts the default', () => {
    expect(() => checkRotationPolicy(defaultRotationPolicy)).not.toThrow();
  });

  test('refuses what leaves no time to replace an authority, and lives that are none', () => {
    expect(() => checkRotationPolicy({ ...policy, leafLifetime: 280 })).toThrow('must live more than 1 s');
    expect(() => checkRotationPolicy({ ...policy, leafLifetime: 0 })).toThrow('more than 0');
    expect(() => checkRotationPolicy({ ...policy, propagation: -1 })).toThrow('more than 0');
  });
});
