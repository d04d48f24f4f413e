import { expect, test } from '@jest/globals';
import { BundleWatch } from '../../../src/cluster/bundle-watch.ts';
import type { InstalledKind } from '../../../src/kubernetes/index.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { annotations, bundle, installedKind } from '../../support/doctor.ts';

function started() {
  const lines: string[] = [];
  const metrics = createMetrics();
  const log = createLogger('info', { write: (line) => lines.push(line) });
  let isSynced = true;
  const watch = new BundleWatch({ log, metrics, isSynced: () => isSynced });
  return {
    setSynced: (value: boolean) => (isSynced = value),
    update: (kinds: readonly InstalledKind[]) => watch.update(new Map(kinds.map((kind) => [kind.name, kind]))),
    logged: () => lines.splice(0).map((line) => JSON.parse(line) as object),
    samples: async (name: string) =>
      (await metrics.scrape()).split('\n').filter((line) => line.startsWith(`sallyport_${name}`)),
  };
}

function of(version: string, channel: string): readonly InstalledKind[] {
  return bundle((plural) => installedKind(plural, { annotations: annotations(version, channel) }));
}

test('a metric shows the CRDs that the installed bundle lacks', async () => {
  const { update, samples, setSynced } = started();
  setSynced(false);
  update(bundle().slice(0, 1));
  expect(await samples('crd_missing_info')).toEqual([]);
  setSynced(true);
  update(bundle());
  expect(await samples('crd_missing_info')).toEqual([]);
  update(bundle((plural) => (plural === 'tlsroutes' ? undefined : installedKind(plural))));
  expect(await samples('crd_missing_info')).toEqual(['sallyport_crd_missing_info{crd="tlsroutes"} 1']);
  update([]);
  expect(await samples('crd_missing_info')).toEqual([]);
});

test('a CRD of an older bundle, or of the standard channel, is logged and counted when it replaces a newer one', async () => {
  const { update, logged, samples } = started();
  const routes = (version: string, channel: string) =>
    of(version, channel).filter(({ plural }) => plural === 'httproutes');
  update(routes('v1.7.0', 'experimental'));
  update(routes('v1.7.0', 'standard'));
  update(routes('v1.2.1', 'standard'));
  update(routes('v1.2.1', 'standard'));
  update(routes('v1.7.0', 'standard'));
  expect(logged()).toMatchObject(
    [
      { before: 'v1.7.0', now: 'v1.7.0' },
      { before: 'v1.7.0', now: 'v1.2.1' },
    ].map((change) => ({
      ...change,
      level: 'warn',
      crd: 'httproutes.gateway.networking.k8s.io',
      msg: 'an older CRD replaced a newer one: the next write of each object drops the fields that only the newer one has',
    })),
  );
  expect(await samples('crd_downgrades_total')).toEqual([
    'sallyport_crd_downgrades_total{crd="httproutes.gateway.networking.k8s.io"} 2',
  ]);
});
