import { expect, test } from '@jest/globals';
import { BundlesInForce } from '../../../src/cluster/bundles-in-force.ts';
import type { InstalledKind } from '../../../src/kubernetes/index.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { annotations, installedKind } from '../../support/doctor.ts';

const group = 'gateway.networking.k8s.io';

function started() {
  const lines: string[] = [];
  const metrics = createMetrics();
  const inForce = new BundlesInForce({ log: createLogger('info', { write: (line) => lines.push(line) }), metrics });
  return {
    inForce,
    update: (...kinds: readonly InstalledKind[]) => inForce.update(new Map(kinds.map((kind) => [kind.name, kind]))),
    /** What was logged since the last call. */
    logged: () => lines.splice(0).map((line) => ({ ...(JSON.parse(line) as object), time: undefined })),
    samples: async () =>
      (await metrics.scrape()).split('\n').filter((line) => line.startsWith('sallyport_crd_bundle_info')),
  };
}

const gateways = installedKind('gateways');
const routes = installedKind('httproutes');
const changed = { ...routes, versions: routes.versions.map((version) => ({ ...version, schemaHash: 'changed' })) };

test('each kind has its own bundle, and one that is not installed is a guess', () => {
  const { inForce, update } = started();
  update(gateways, { ...changed, annotations: annotations('v1.5.1', 'standard') });
  expect(inForce.bundleOf(group, 'gateways')).toMatchObject({
    bundle: { minor: '1.7', channel: 'standard' },
    certain: true,
  });
  expect(inForce.bundleOf(group, 'httproutes')).toMatchObject({
    bundle: { minor: '1.5', channel: 'standard' },
    certain: false,
  });
  expect(inForce.bundleOf(group, 'grpcroutes')).toMatchObject({
    bundle: { minor: '1.7', channel: 'experimental' },
    certain: false,
  });
  update(gateways);
  expect(inForce.bundleOf(group, 'httproutes')).toMatchObject({
    bundle: { minor: '1.7', channel: 'experimental' },
    certain: false,
  });
});

test('a change is logged once', () => {
  const { update, logged } = started();
  update(gateways);
  update(gateways, routes);
  expect(logged()).toEqual(
    ['gateways', 'httproutes'].map((kind) => ({
      level: 'info',
      kind,
      bundle: '1.7',
      channel: 'standard',
      annotated: 'v1.7.0',
      msg: 'bundle in force',
    })),
  );
  update(gateways, { ...routes, uid: 'made anew' });
  expect(logged()).toEqual([]);
  update(gateways, changed);
  expect(logged()).toEqual([
    {
      level: 'warn',
      kind: 'httproutes',
      bundle: '1.7',
      channel: 'standard',
      annotated: 'v1.7.0',
      msg: 'the installed schema matches no known release: violations of this bundle are not denied',
    },
  ]);
  update(gateways);
  expect(logged()).toEqual([{ level: 'info', kind: 'httproutes', msg: 'kind is no longer installed' }]);
});

test('the metric shows what is installed now', async () => {
  const { update, samples } = started();
  expect(await samples()).toEqual([]);
  update(gateways, changed);
  expect(await samples()).toEqual([
    'sallyport_crd_bundle_info{kind="gateways",bundle="1.7",channel="standard",certain="true"} 1',
    'sallyport_crd_bundle_info{kind="httproutes",bundle="1.7",channel="standard",certain="false"} 1',
  ]);
  update(routes);
  expect(await samples()).toEqual([
    'sallyport_crd_bundle_info{kind="httproutes",bundle="1.7",channel="standard",certain="true"} 1',
  ]);
});
