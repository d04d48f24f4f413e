import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isSupportedBundle, parseBundleVersion, parseChannel } from '../../../../src/core/schema/bundle.ts';

describe('parseBundleVersion', () => {
  test.each([
    ['v1.7.0', { ok: true, minor: '1.7' }],
    ['1.7', { ok: true, minor: '1.7' }],
    [' v1.2.1\n', { ok: true, minor: '1.2' }],
    ['v1.6.0-rc.2', { ok: true, minor: '1.6', prerelease: 'rc.2' }],
    ['v1.7.0-dev', { ok: true, minor: '1.7', prerelease: 'dev' }],
    ['v0.0.0-dev', { ok: false, problem: 'no release from v1.0 to v1.7 is meant' }],
    ['v0.8.0', { ok: false, problem: 'no release from v1.0 to v1.7 is meant' }],
    ['v1.70.0', { ok: false, problem: 'no release from v1.0 to v1.7 is meant' }],
    ['latest', { ok: false, problem: 'it is no version; write for example v1.7.0' }],
    ['', { ok: false, problem: 'no bundle version is given' }],
    [undefined, { ok: false, problem: 'no bundle version is given' }],
  ])('%j', (text, expected) => {
    expect(parseBundleVersion(text)).toEqual(expected);
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.anything(), (value) => {
      expect(typeof parseBundleVersion(value).ok).toBe('boolean');
      expect(typeof isSupportedBundle(value)).toBe('boolean');
    }));
  });
});

test('only releases with complete tables are supported', () => {
  expect(isSupportedBundle('v1.7.0')).toBe(true);
  expect(isSupportedBundle('v1.7.3')).toBe(true);
  expect(isSupportedBundle('v1.7.0-rc.1')).toBe(false);
  expect(isSupportedBundle('v1.0.0')).toBe(true);
  expect(isSupportedBundle('v1.8.0')).toBe(false);
  expect(isSupportedBundle('v0.8.1')).toBe(false);
  expect(isSupportedBundle(undefined)).toBe(false);
});

test('the channel stable is what is called standard now', () => {
  expect(parseChannel('stable')).toBe('standard');
  expect(parseChannel('standard')).toBe('standard');
  expect(parseChannel('experimental')).toBe('experimental');
  expect(parseChannel('beta')).toBeUndefined();
  expect(parseChannel(undefined)).toBeUndefined();
});
