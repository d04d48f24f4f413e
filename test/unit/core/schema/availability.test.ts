import { describe, expect, test } from '@jest/globals';
import {
  allVariants,
  available,
  between,
  exists,
  experimental,
  resolve,
  resolveAll,
  since,
  until,
  versions,
  type Bundle,
} from '../../../../src/core/schema/availability.ts';

const standard = (minor: Bundle['minor']): Bundle => ({ minor, channel: 'standard' });
const experimentalAt = (minor: Bundle['minor']): Bundle => ({ minor, channel: 'experimental' });

describe('availability', () => {
  test('begins in each channel at its own release', () => {
    const field = available({ since: { experimental: '1.2', standard: '1.4' } }, 'x');
    expect(resolve(field, experimentalAt('1.1'))).toBeUndefined();
    expect(resolve(field, experimentalAt('1.2'))).toBe('x');
    expect(resolve(field, standard('1.3'))).toBeUndefined();
    expect(resolve(field, standard('1.4'))).toBe('x');
    expect(resolve(field, standard('1.7'))).toBe('x');
  });

  test('never holds in a channel that since leaves out', () => {
    const field = experimental('1.4', 'x');
    expect(resolve(field, standard('1.7'))).toBeUndefined();
    expect(resolve(field, experimentalAt('1.7'))).toBe('x');
  });

  test('ends before the release of until, in that channel only', () => {
    const availability = { until: { standard: '1.5' } } as const;
    expect(exists(availability, standard('1.4'))).toBe(true);
    expect(exists(availability, standard('1.5'))).toBe(false);
    expect(exists(availability, experimentalAt('1.7'))).toBe(true);
  });

  test('of several variants the last that exists counts', () => {
    const raised = versions(available({}, 8), available({ since: { standard: '1.2', experimental: '1.2' } }, 64));
    expect(resolve(raised, standard('1.1'))).toBe(8);
    expect(resolve(raised, standard('1.2'))).toBe(64);
    expect(allVariants(raised)).toEqual([8, 64]);
  });

  test('short forms', () => {
    expect(since('1.5', 'x')).toEqual(available({ since: { standard: '1.5', experimental: '1.5' } }, 'x'));
    expect(since({ experimental: '1.2', standard: '1.4' }, 'x')).toEqual(
      available({ since: { experimental: '1.2', standard: '1.4' } }, 'x'),
    );
    expect(until('1.5', 'x')).toEqual(available({ until: { standard: '1.5', experimental: '1.5' } }, 'x'));
    const brief = between({ experimental: '1.1' }, '1.4', 'x');
    expect(
      [experimentalAt('1.0'), experimentalAt('1.1'), experimentalAt('1.3'), experimentalAt('1.4'), standard('1.2')].map(
        (bundle) => resolve(brief, bundle),
      ),
    ).toEqual([undefined, 'x', 'x', undefined, undefined]);
    expect(versions(8, since('1.2', 64))).toEqual(versions(available({}, 8), since('1.2', 64)));
  });

  test('plain values hold everywhere, falsy ones too', () => {
    expect(resolve(0, standard('1.0'))).toBe(0);
    expect(resolve('', standard('1.0'))).toBe('');
    expect(resolveAll(['a', experimental('1.4', 'b')], standard('1.7'))).toEqual(['a']);
    expect(resolveAll(['a', experimental('1.4', 'b')], experimentalAt('1.7'))).toEqual(['a', 'b']);
  });
});
