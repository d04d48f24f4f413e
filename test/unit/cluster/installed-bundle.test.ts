import { describe, expect, test } from '@jest/globals';
import { annotatedBundle, bundleOfKind, bundleVersionOf, releasedAs } from '../../../src/cluster/installed-bundle.ts';
import { supportedMinors, type Bundle, type Channel, type Minor } from '../../../src/core/schema/index.ts';
import type { InstalledKind, InstalledVersion } from '../../../src/kubernetes/index.ts';
import { annotations, hashOf } from '../../support/doctor.ts';

const group = 'gateway.networking.k8s.io';

function installed(
  plural: string,
  labels: Readonly<Record<string, string>>,
  versions: readonly InstalledVersion[] = [],
): InstalledKind {
  return {
    name: `${plural}.${group}`,
    uid: 'a',
    group,
    kind: plural,
    plural,
    annotations: labels,
    versions,
    storedVersions: ['v1'],
    established: true,
    deleting: false,
  };
}

/** Served versions as a bundle such as `1.5/standard` has them. */
function ofBundle(
  plural: string,
  bundle: string,
  names: readonly string[] = ['v1', 'v1beta1'],
): readonly InstalledVersion[] {
  return names.map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    schemaHash: hashOf(`${plural}.${group}/${name}`, bundle),
  }));
}

const changed: InstalledVersion = { name: 'v1', served: true, storage: true, schemaHash: 'changed' };
const newest = supportedMinors.at(-1);
const bundle = (minor: Minor, channel: Channel): Bundle => ({ minor, channel });

describe('a schema that was released', () => {
  test.each([
    ['without annotations', {}],
    ['with annotations that lie', annotations('v1.7.0', 'experimental')],
    ['with those of a prerelease', annotations('v1.6.0-rc.1', 'standard')],
    ['with nonsense', annotations('main', 'nightly')],
  ])('is recognised %s', (_name, labels) => {
    expect(bundleOfKind(installed('httproutes', labels, ofBundle('httproutes', '1.4/experimental')))).toEqual({
      bundle: bundle('1.4', 'experimental'),
      certain: true,
    });
  });

  test.each([
    ['v1.2.1', 'experimental', bundle('1.2', 'experimental')],
    ['v1.4.1', 'standard', bundle('1.4', 'standard')],
    ['v1.5.9', undefined, bundle('1.5', 'standard')],
    ['', 'experimental', bundle('1.6', 'experimental')],
    ['', undefined, bundle('1.6', 'standard')],
    ['v1.7.0', 'standard', bundle('1.6', 'standard')],
  ])(
    'in several bundles is of the one that the annotations choose, or else of the newest: %j %j',
    (version, channel, expected) => {
      const labels = {
        [`${group}/bundle-version`]: version,
        ...(channel !== undefined && { [`${group}/channel`]: channel }),
      };
      expect(bundleOfKind(installed('gatewayclasses', labels, ofBundle('gatewayclasses', '1.4/standard')))).toEqual({
        bundle: expected,
        certain: true,
      });
    },
  );

  test('is that of every version which is served', () => {
    const versions = [
      ...ofBundle('httproutes', '1.6/standard', ['v1']),
      ...ofBundle('httproutes', '1.7/standard', ['v1beta1']),
    ];
    expect(releasedAs(installed('httproutes', {}, versions))).toEqual([]);
    expect(
      releasedAs(
        installed(
          'httproutes',
          {},
          versions.map((version) => ({ ...version, served: version.name === 'v1' })),
        ),
      ),
    ).toEqual([bundle('1.5', 'standard'), bundle('1.6', 'standard')]);
    expect(
      releasedAs(
        installed(
          'httproutes',
          {},
          versions.map((version) => ({ ...version, served: false })),
        ),
      ),
    ).toEqual([]);
  });

  test('under the name of another kind is unknown', () => {
    expect(releasedAs(installed('gateways', {}, ofBundle('httproutes', '1.5/standard')))).toEqual([]);
  });

  test('in a version that was not served is unknown', () => {
    const versions = [
      ...ofBundle('tlsroutes', '1.7/standard', ['v1']),
      { ...changed, name: 'v1alpha2', storage: false },
    ];
    expect(bundleOfKind(installed('tlsroutes', annotations('v1.7.0', 'standard'), versions))).toEqual({
      bundle: bundle('1.7', 'standard'),
      certain: false,
    });
  });
});

describe('a schema that nobody released is a guess', () => {
  const labelled = (version: string, channel?: string) =>
    installed(
      'httproutes',
      { [`${group}/bundle-version`]: version, ...(channel !== undefined && { [`${group}/channel`]: channel }) },
      [changed],
    );

  test.each(['standard', 'experimental'] as const)('by the annotations: %s', (channel) => {
    expect(bundleOfKind(labelled('v1.7.2', channel))).toEqual({ bundle: { minor: '1.7', channel }, certain: false });
  });

  test.each<[string, InstalledKind | undefined]>([
    ['no definition', undefined],
    ['no annotations', installed('httproutes', {}, [changed])],
    ['an unknown release', labelled('v9.0.0', 'experimental')],
    ['no version', labelled('main', 'experimental')],
  ])('%s: the newest schema with everything in it', (_name, definition) => {
    expect(bundleOfKind(definition)).toEqual({ bundle: { minor: newest, channel: 'experimental' }, certain: false });
  });

  test('a known channel counts even where the release is not known', () => {
    expect(bundleOfKind(labelled('v1.7.0-rc.1', 'standard'))).toEqual({
      bundle: { minor: newest, channel: 'standard' },
      certain: false,
    });
  });

  test('a release counts even without its channel', () => {
    expect(bundleOfKind(labelled('v1.7.0'))).toEqual({
      bundle: { minor: '1.7', channel: 'experimental' },
      certain: false,
    });
  });
});

describe('annotations', () => {
  test('name a bundle where both are of one that was released', () => {
    const named = (version: string, channel: string) =>
      annotatedBundle(installed('httproutes', annotations(version, channel)));
    expect([named('v1.5.1', 'standard'), named('v1.5.1', 'other'), named('v1.5.1-rc.1', 'standard')]).toEqual([
      bundle('1.5', 'standard'),
      undefined,
      undefined,
    ]);
  });

  test('are told as they are written', () => {
    expect([
      bundleVersionOf(installed('httproutes', annotations('v1.7.0-rc.1', 'x'))),
      bundleVersionOf(installed('httproutes', {})),
      bundleVersionOf(undefined),
    ]).toEqual(['v1.7.0-rc.1', '', '']);
  });
});
