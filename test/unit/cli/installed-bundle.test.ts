import { describe, expect, test } from '@jest/globals';
import { bundleOfKind, bundleVersionOf } from '../../../src/cli/installed-bundle.ts';
import { supportedMinors } from '../../../src/core/schema/index.ts';
import type { InstalledKind } from '../../../src/kubernetes/index.ts';

function installed(annotations: Readonly<Record<string, string>>): InstalledKind {
  return {
    name: 'httproutes.gateway.networking.k8s.io', uid: 'a', group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', plural: 'httproutes',
    annotations, versions: [], storedVersions: ['v1'], established: true,
  };
}

function annotated(version: string, channel?: string): InstalledKind {
  return installed({ 'gateway.networking.k8s.io/bundle-version': version, ...(channel !== undefined && { 'gateway.networking.k8s.io/channel': channel }) });
}

const newest = supportedMinors.at(-1);

describe('the bundle that a kind is installed from', () => {
  test.each(['standard', 'experimental'] as const)('is certain where both annotations are known: %s', (channel) => {
    expect(bundleOfKind(annotated('v1.7.2', channel))).toEqual({ bundle: { minor: '1.7', channel }, certain: true });
  });

  test.each<[string, InstalledKind | undefined]>([
    ['no definition', undefined],
    ['no annotations', installed({})],
    ['an unknown release', annotated('v9.0.0', 'experimental')],
    ['no version', annotated('main', 'experimental')],
  ])('%s: the newest schema with everything in it, as a guess', (_name, definition) => {
    expect(bundleOfKind(definition)).toEqual({ bundle: { minor: newest, channel: 'experimental' }, certain: false });
  });

  test('a known channel counts even where the release is a guess', () => {
    expect(bundleOfKind(annotated('v1.7.0-rc.1', 'standard'))).toEqual({ bundle: { minor: newest, channel: 'standard' }, certain: false });
  });

  test('a release without its channel is a guess', () => {
    expect(bundleOfKind(annotated('v1.7.0'))).toEqual({ bundle: { minor: '1.7', channel: 'experimental' }, certain: false });
  });

  test('the version is told as it is written', () => {
    expect([bundleVersionOf(annotated('v1.7.0-rc.1')), bundleVersionOf(installed({})), bundleVersionOf(undefined)]).toEqual(['v1.7.0-rc.1', '', '']);
  });
});
