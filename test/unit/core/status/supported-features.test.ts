import { describe, expect, test } from '@jest/globals';
import { filesOnly } from '../../../../src/cli/settings.ts';
import { minors, channels, type Bundle } from '../../../../src/core/schema/index.ts';
import { supportedFeatures } from '../../../../src/core/status/supported-features.ts';

/** What is claimed where all kinds are installed from one bundle. */
function claimedFor(bundle: Bundle): readonly string[] | undefined {
  return supportedFeatures(filesOnly(bundle))?.map((feature) => (typeof feature === 'string' ? feature : feature.name));
}

const newest: Bundle = { minor: '1.7', channel: 'standard' };

describe('supportedFeatures of a GatewayClass', () => {
  test.each(minors.flatMap((minor) => channels.map((channel): Bundle => ({ minor, channel }))))(
    '$minor $channel: sorted, each once, and no more than the schema takes',
    (bundle) => {
      const claimed = claimedFor(bundle) ?? [];
      expect(claimed).toEqual([...new Set(claimed)].sort());
      expect(claimed.length).toBeLessThanOrEqual(64);
    },
  );

  test('has the core features', () => {
    expect(claimedFor(newest)).toEqual(expect.arrayContaining(['Gateway', 'HTTPRoute', 'ReferenceGrant']));
  });

  test('is left out where the bundle has no such field, or nothing is known to be installed', () => {
    expect(claimedFor({ minor: '1.3', channel: 'standard' })).toBeUndefined();
    expect(supportedFeatures({ ...filesOnly(newest), bundles: {} })).toBeUndefined();
  });

  test('is a list of names before v1.2, of objects since then', () => {
    expect(supportedFeatures(filesOnly({ minor: '1.1', channel: 'experimental' }))).toContain('HTTPRoute');
    expect(supportedFeatures(filesOnly({ minor: '1.2', channel: 'experimental' }))).toContainEqual({
      name: 'HTTPRoute',
    });
  });

  test('names for v1.0 only what its enum has', () => {
    const claimed = claimedFor({ minor: '1.0', channel: 'experimental' });
    expect(claimed).toContain('HTTPRoutePortRedirect');
    expect(claimed).not.toContain('HTTPRouteRequestTimeout');
  });

  test('claims a field or value only where the bundle has it', () => {
    const [before, after] = (['1.4', '1.5'] as const).map((minor) => claimedFor({ minor, channel: 'standard' }));
    expect(before).not.toContain('HTTPRoute308RedirectStatusCode');
    expect(after).toContain('HTTPRoute308RedirectStatusCode');
  });

  test('has before v1.7 the names of that time, too', () => {
    const retries = ['HTTPRouteRetry', 'HTTPRouteRetryBackendTimeout'];
    const former = new Set([...retries, 'GatewayInfrastructurePropagation']);
    const formerIn = (bundle: Bundle): readonly string[] | undefined =>
      claimedFor(bundle)?.filter((name) => former.has(name));
    expect(formerIn({ minor: '1.6', channel: 'standard' })).toEqual(['GatewayInfrastructurePropagation']);
    expect(formerIn({ minor: '1.6', channel: 'experimental' })).toEqual([
      'GatewayInfrastructurePropagation',
      ...retries,
    ]);
    expect(formerIn({ minor: '1.1', channel: 'experimental' })).toEqual(['GatewayInfrastructurePropagation']);
    for (const channel of channels) expect(formerIn({ minor: '1.7', channel })).toEqual([]);
  });

  test('goes by the bundle of the kind, where bundles are mixed', () => {
    const bundles = { ...filesOnly(newest).bundles, HTTPRoute: { minor: '1.6', channel: 'experimental' } as const };
    expect(supportedFeatures({ ...filesOnly(newest), bundles })).toContainEqual({ name: 'HTTPRouteRetry' });
    expect(supportedFeatures({ ...filesOnly(newest), bundles })).not.toContainEqual({
      name: 'GatewayInfrastructurePropagation',
    });
  });

  test('claims routability of addresses where the bundle has the field', () => {
    const names = ['GatewayAddressRoutability', 'GatewayAddressRoutabilityCluster'];
    expect(claimedFor({ minor: '1.7', channel: 'experimental' })).toEqual(expect.arrayContaining(names));
    for (const bundle of [newest, { minor: '1.6', channel: 'experimental' } as const])
      expect(claimedFor(bundle)).not.toEqual(expect.arrayContaining([names[0]]));
  });

  test('claims nothing of a kind that is not installed', () => {
    const { HTTPRoute: _absent, ...others } = filesOnly(newest).bundles;
    const claimed = supportedFeatures({ ...filesOnly(newest), bundles: others })?.map((feature) =>
      typeof feature === 'string' ? feature : feature.name,
    );
    expect(claimed).toContain('Gateway');
    expect(claimed?.filter((name) => name.startsWith('HTTPRoute'))).toEqual([]);
  });

  test.each(channels)('claims ClusterTrustBundle in the %s channel only while the API server serves it', (channel) => {
    const installation = filesOnly({ minor: '1.7', channel });
    const claim = { name: 'ClusterTrustBundle' };
    expect(supportedFeatures(installation)).toContainEqual(claim);
    expect(supportedFeatures({ ...installation, notInstalled: ['ClusterTrustBundle'] })).not.toContainEqual(claim);
    expect(supportedFeatures({ ...installation, unobserved: ['ClusterTrustBundle'] })).not.toContainEqual(claim);
  });
});
