import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { channels, minors } from '../../../../src/core/schema/availability.ts';
import {
  bundlesOfSchema,
  isSameBundle,
  isSupportedBundle,
  parseBundleVersion,
  parseChannel,
} from '../../../../src/core/schema/bundle.ts';
import { schemaTables } from '../../../../src/core/schema/kinds.ts';
import { knownSchemas } from '../../../../src/core/schema/known-schemas.ts';
import { versionsIn } from '../../../../src/core/schema/compile.ts';
import type { KindTable } from '../../../../src/core/schema/tables/table.ts';

describe('parseBundleVersion', () => {
  test.each([
    ['v1.7.0', { ok: true, minor: '1.7' }],
    ['1.7', { ok: true, minor: '1.7' }],
    [' v1.2.1\n', { ok: true, minor: '1.2' }],
    ['v1.6.0-rc.2', { ok: true, minor: '1.6', prerelease: 'rc.2' }],
    ['v1.7.0-dev', { ok: true, minor: '1.7', prerelease: 'dev' }],
    ['v0.0.0-dev', { ok: false, problem: 'not a release from v1.0 to v1.7' }],
    ['v0.8.0', { ok: false, problem: 'not a release from v1.0 to v1.7' }],
    ['v1.70.0', { ok: false, problem: 'not a release from v1.0 to v1.7' }],
    ['latest', { ok: false, problem: 'it is not a version. Use a version such as v1.7.0' }],
    ['', { ok: false, problem: 'no bundle version is set' }],
    [undefined, { ok: false, problem: 'no bundle version is set' }],
  ])('%j', (text, expected) => {
    expect(parseBundleVersion(text)).toEqual(expected);
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(typeof parseBundleVersion(value).ok).toBe('boolean');
        expect(typeof isSupportedBundle(value)).toBe('boolean');
      }),
    );
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

describe('schemas that were released', () => {
  const tables = Object.values<KindTable>(schemaTables).filter(({ group }) => group.startsWith('gateway.networking.'));

  test.each(minors.flatMap((minor) => channels.map((channel) => ({ minor, channel }))))(
    'are known for every version that v$minor $channel serves',
    (bundle) => {
      const served = tables.flatMap((table) =>
        versionsIn(table, bundle)
          .filter((version) => version.served)
          .map(({ name }) => `${table.plural}.${table.group}/${name}`),
      );
      const known = Object.entries(knownSchemas)
        .filter(([, names]) => names.split(' ').includes(`${bundle.minor}/${bundle.channel}`))
        .map(([key]) => key.split(' ')[0] ?? '');
      expect([...new Set(known)].toSorted()).toEqual(served.toSorted());
    },
  );

  test('lead to their bundles, oldest first', () => {
    const [key = ''] = Object.entries(knownSchemas).find(([, names]) => names === '1.6/standard 1.7/standard') ?? [];
    const [version = '', hash = ''] = key.split(' ');
    const [definition = '', name = ''] = version.split('/');
    expect(bundlesOfSchema(definition, name, hash).map(({ minor }) => minor)).toEqual(['1.6', '1.7']);
    expect(bundlesOfSchema(definition, 'v9', hash)).toEqual([]);
    expect(bundlesOfSchema(definition, name, '')).toEqual([]);
  });
});

test('a bundle is a release and a channel', () => {
  const bundle = { minor: '1.7', channel: 'standard' } as const;
  expect(isSameBundle(bundle, { ...bundle })).toBe(true);
  expect(isSameBundle(bundle, { ...bundle, minor: '1.6' })).toBe(false);
  expect(isSameBundle(bundle, { ...bundle, channel: 'experimental' })).toBe(false);
});
