import { expect, test } from '@jest/globals';
import { BundleWatch } from '../../../src/cluster/bundle-watch.ts';
import type { InstalledKind } from '../../../src/kubernetes/index.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { annotations, bundle, installedKind } from '../../support/doctor.ts';

function started(recorded: readonly InstalledKind[] = []) {
  const lines: string[] = [];
  const metrics = createMetrics();
  const log = createLogger('info', { write: (line) => lines.push(line) });
  let isSynced = true;
  const watch = new BundleWatch({
    log,
    metrics,
    recorded: new Map(recorded.map((kind) => [kind.name, kind])),
    isSynced: () => isSynced,
  });
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

test('an older CRD that replaced a recorded one before the start is logged once, although definitions arrive one by one', async () => {
  const recorded = of('v1.7.0', 'experimental').filter(({ plural }) => ['httproutes', 'gateways'].includes(plural));
  const { update, logged, samples, setSynced } = started(recorded);
  const [gateways, routes] = ['gateways', 'httproutes'].map((name) =>
    of('v1.4.1', 'experimental').filter(({ plural }) => plural === name),
  );
  setSynced(false);
  update(gateways ?? []);
  update([...(gateways ?? []), ...(routes ?? [])]);
  setSynced(true);
  update([...(gateways ?? []), ...(routes ?? [])]);
  expect(logged()).toMatchObject(
    ['gateways', 'httproutes'].map((plural) => ({
      crd: `${plural}.gateway.networking.k8s.io`,
      before: 'v1.7.0',
      now: 'v1.4.1',
    })),
  );
  expect((await samples('crd_downgrades_total')).sort()).toEqual([
    'sallyport_crd_downgrades_total{crd="gateways.gateway.networking.k8s.io"} 1',
    'sallyport_crd_downgrades_total{crd="httproutes.gateway.networking.k8s.io"} 1',
  ]);
});

test('a recorded CRD that was deleted with its objects may come back older', () => {
  const routes = (version: string) => of(version, 'standard').filter(({ plural }) => plural === 'httproutes');
  const { update, logged, setSynced } = started(routes('v1.7.0'));
  // Definitions count as read only after the update with the last one.
  setSynced(false);
  update([]);
  setSynced(true);
  update(routes('v1.4.1'));
  expect(logged()).toEqual([]);
});
