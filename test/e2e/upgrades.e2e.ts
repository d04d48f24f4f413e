import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listedVersions, resourceOf, targetOf } from '../../src/core/preflight/target.ts';
import { isSchemaKind, nameOfBundle, type Bundle, type SchemaKind } from '../../src/core/schema/index.ts';
import {
  createClient,
  loadCredentials,
  readInstalledKind,
  type ApiClient,
  type KubernetesObject,
} from '../../src/kubernetes/index.ts';
import { circuit, consecutiveChanges, type BundleChange } from './support/bundle-circuit.ts';
import { BundleCluster, definitionsOf } from './support/bundle-cluster.ts';
import { BundleObjects, type Fate } from './support/bundle-objects.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';

// The prediction of `preflight` for every change to the next or previous bundle or to the other channel, compared with the change itself.
// The objects are the examples of all rules and random ones, as far as the API server with the bundle takes them.
const namespace = useNamespace('upgrades');
const seed = Number(process.env['UPGRADE_SEED'] ?? 1);
const randomPerVersion = Number(process.env['UPGRADE_COUNT'] ?? 5);

let client: ApiClient;
let cluster: BundleCluster;
let objects: BundleObjects;

beforeAll(async () => {
  await removeCrds();
  // Waits until a policy that was deleted with the CRDs no longer denies older bundles.
  await installCrds('v1.0.0', 'standard');
  await removeCrds();
  client = createClient(await loadCredentials('default'));
  cluster = new BundleCluster(client);
  objects = new BundleObjects(client, { namespace, seed, randomPerVersion });
});
afterAll(async () => {
  await cluster.clear();
  await client.close();
});

interface Finding {
  readonly check: string;
  readonly severity: string;
  readonly subject: string;
  readonly field?: string;
}

interface Report {
  readonly from: string;
  readonly objects: number;
  readonly findings: readonly Finding[];
}

/** The built program: its start is a part of the time of this test. */
async function preflight({ to }: BundleChange): Promise<Report> {
  const target = ['--to', targetOf(to).version, '--channel', to.channel];
  const child = spawn('bin/sallyport', ['preflight', '--cluster', ...target, '-o', 'json']);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return JSON.parse(output) as Report;
}

/** Parts of some findings, sorted and without repetitions. */
function found(findings: readonly Finding[], select: (finding: Finding) => string | undefined): readonly string[] {
  return [...new Set(findings.map(select).filter((subject) => subject !== undefined))].toSorted();
}

/** The prediction for all kinds but those whose CRDs the API server rejects, and which stay as they are. */
function predictedFate(report: Report, refused: readonly string[]): Fate {
  const isChanged = (subject: string): boolean => {
    const [kind = ''] = subject.split(' ');
    return !isSchemaKind(kind) || !refused.includes(resourceOf(kind));
  };
  const ofSpec = report.findings.filter(({ subject, field = '' }) => isChanged(subject) && !field.startsWith('status'));
  return {
    orphaned: found(ofSpec, ({ check, subject }) => (check === 'removed-kinds' ? subject : undefined)),
    lost: found(ofSpec, ({ check, subject, field = '' }) =>
      check === 'lost-protection' || check === 'pruned-fields' ? `${subject} ${field}` : undefined,
    ),
    rejected: found(ofSpec, ({ check, subject }) => (check === 'rejected-objects' ? subject : undefined)),
    unserved: found(ofSpec, ({ check, severity, subject }) =>
      check === 'old-clients' && severity === 'warning' ? subject : undefined,
    ),
  };
}

/** Leaves nothing of the change before but CRDs of kinds that the bundle stores in the same version. */
async function reset(bundle: Bundle): Promise<void> {
  const wanted = new Map(definitionsOf(bundle).map((crd) => [crd.metadata.name, storageOf(crd)]));
  const installed = (await cluster.installed()).map(readInstalledKind);
  const unfit = installed.filter(
    ({ name, storedVersions }) => storedVersions.length !== 1 || storedVersions[0] !== wanted.get(name),
  );
  await cluster.delete(unfit.map(({ name }) => name));
  await objects.deleteAll(installed.filter((kind) => !unfit.includes(kind)));
  expect(await cluster.install(bundle)).toEqual([]);
}

function storageOf(definition: KubernetesObject): string | undefined {
  return readInstalledKind(definition).versions.find(({ storage }) => storage)?.name;
}

describe('preflight predicts the rejected CRDs, and the orphaned, pruned and rejected objects', () => {
  const changes = circuit(consecutiveChanges());

  test('the changes are those of all neighbors, each from the bundle that the one before installed', () => {
    const names = changes.map(({ from, to }) => `${nameOfBundle(from)} to ${nameOfBundle(to)}`);
    // 7 pairs of minor versions in 2 channels, and 8 pairs of channels, in both directions.
    expect(new Set(names).size).toBe(2 * (7 * 2 + 8));
    expect(changes.slice(1).map(({ from }) => from)).toEqual(changes.slice(0, -1).map(({ to }) => to));
  });

  test.each(changes.map((change) => [nameOfBundle(change.from), nameOfBundle(change.to), change] as const))(
    '%s to %s',
    async (from, _to, change) => {
      await reset(change.from);
      const before = await objects.createFor(change.from);
      const report = await preflight(change);
      expect([report.from, report.objects]).toEqual([from, before.length]);
      const refused = await cluster.install(change.to);
      const isInstalled = (kind: SchemaKind): boolean =>
        listedVersions(kind, change.to).length > 0 && !refused.includes(resourceOf(kind));
      expect(refused).toEqual(
        found(report.findings, ({ check, severity, subject }) =>
          check === 'stored-versions' && severity === 'blocker' ? subject : undefined,
        ),
      );
      expect(await objects.fateOf(before, change.to, isInstalled)).toEqual(predictedFate(report, refused));
    },
  );
});
