import { channels, minors, nameOfBundle, type Bundle, type SchemaKind } from '../schema/index.ts';
import { deletePolicyCommand, guardsAgainst } from './environment.ts';
import type { ClusterFacts, Definition } from './facts.ts';
import { someOf } from '../text/display.ts';
import { counted, type PreflightFinding } from './finding.ts';
import { installOneCommand, listedVersions, nameOfTarget, readVersion, resourceOf, type Target } from './target.ts';

/** The objects of a kind. */
export interface KindPopulation {
  readonly count: number;
  /** The names of the objects that the target rejects in its storage version. */
  readonly rejected: readonly string[];
}

/**
 * Finds CRDs whose change the API server rejects, because objects may be stored in a version that the target does not list. The
 * commands first store the objects in another version. A version that the target lists but does not serve is a note, because a
 * later release drops it.
 */
export function judgeStoredVersions(
  { definitions, storageMigration, policies }: ClusterFacts,
  target: Target,
  populations: ReadonlyMap<SchemaKind, KindPopulation>,
): readonly PreflightFinding[] {
  return definitions.flatMap((definition): readonly PreflightFinding[] => {
    const { kind } = definition;
    const listed = kind === undefined ? [] : listedVersions(kind, target.bundle);
    if (kind === undefined || listed.length === 0) return [];
    const population = populations.get(kind) ?? { count: 0, rejected: [] };
    const missing = definition.storedVersions.filter((version) => !listed.some(({ name }) => name === version));
    const context = { kind, definition, target, population, storageMigration, policies };
    if (missing.length > 0) return [blocked(missing, context)];
    const idle = definition.storedVersions.filter((version) =>
      listed.some(({ name, served }) => name === version && !served),
    );
    return idle.length === 0 ? [] : [leftOver(idle, context)];
  });
}

interface Context {
  readonly kind: SchemaKind;
  readonly definition: Definition;
  readonly target: Target;
  readonly population: KindPopulation;
  readonly storageMigration: string | undefined;
  readonly policies: ClusterFacts['policies'];
}

function blocked(missing: readonly string[], context: Context): PreflightFinding {
  const { kind, definition, target, population } = context;
  const message = `Objects may be stored as ${missing.join(', ')}, which ${nameOfTarget(target)} does not list. The API server rejects the new CRD.`;
  const finding = { check: 'stored-versions', severity: 'blocker', subject: definition.name } as const;
  if (definition.storage !== undefined && !missing.includes(definition.storage)) {
    return {
      ...finding,
      message: `${message} ${storing(population, definition.storage)}${ofRejected(population)}`,
      commands: migration(context, definition.storage),
    };
  }
  const bridge = bridgeFor(kind, definition, target);
  if (bridge === undefined) {
    return {
      ...finding,
      message: `${message} No release has ${missing.join(', ')} together with a version of the target: export the objects, delete the CRD with its objects, install the target, and create the objects again in the new version.`,
      commands: recreation(kind, target),
    };
  }
  const storage = storageIn(kind, bridge) ?? '';
  return {
    ...finding,
    message: `${message} Install the CRD of ${nameOfBundle(bridge)} first, which has both. ${storing(population, storage)}${ofMigration(context)}${ofRejected(population)}`,
    commands: [
      ...(guardsAgainst(context.policies, bridge) ? [deletePolicyCommand] : []),
      installOneCommand(kind, bridge),
      ...migration(context, storage),
    ],
  };
}

function leftOver(idle: readonly string[], context: Context): PreflightFinding {
  const { kind, definition, target, population } = context;
  const storage = storageIn(kind, target.bundle) ?? '';
  return {
    check: 'stored-versions',
    severity: 'note',
    subject: definition.name,
    message: `Objects may be stored as ${idle.join(', ')}, which ${nameOfTarget(target)} lists but does not serve. Store them as ${storage} after the upgrade, because a later release drops ${idle.join(', ')}.${ofMigration(context)}${ofRejected(population)}`,
    commands: migration(context, storage),
  };
}

function storing({ count }: KindPopulation, version: string): string {
  return count === 0
    ? 'No objects of the kind were found: make sure that there are none, then shorten the list of versions.'
    : `Store ${counted(count, 'object')} as ${version} before the upgrade.`;
}

/** The controller manager refreshes the served versions only periodically. */
function ofMigration({ storageMigration, population }: Context): string {
  return storageMigration === 'v1' && population.count > 0
    ? ' The migration can fail within a minute after the CRD has changed. Then run its commands again.'
    : '';
}

/**
 * Describes the rejected objects. API servers since Kubernetes 1.30 compare with the stored object and ignore errors in
 * unchanged fields.
 */
function ofRejected({ rejected }: KindPopulation): string {
  return rejected.length === 0
    ? ''
    : ` ${someOf(rejected)}: rejected in the new version. API servers before Kubernetes 1.30 refuse to store such an object, so correct it first.`;
}

function storageIn(kind: SchemaKind, bundle: Bundle): string | undefined {
  return listedVersions(kind, bundle).find(({ storage }) => storage)?.name;
}

/** Returns the oldest release whose CRD has all stored versions, and whose storage version is one that the target lists. */
function bridgeFor(kind: SchemaKind, { storedVersions, channel }: Definition, target: Target): Bundle | undefined {
  const preferred = [...new Set([channel ?? target.bundle.channel, ...channels])];
  const candidates = minors.flatMap((minor) => preferred.map((name): Bundle => ({ minor, channel: name })));
  return candidates.find((bundle) => {
    const versions = listedVersions(kind, bundle);
    const storage = storageIn(kind, bundle);
    const listed = listedVersions(kind, target.bundle).some(({ name }) => name === storage);
    return listed && storedVersions.every((stored) => versions.some(({ name }) => name === stored));
  });
}

/**
 * Returns commands that store all objects of a kind again, and shorten the list of stored versions. A migration fails while the
 * controller manager remembers versions that the CRD served before. The commands can be repeated.
 */
function migration({ kind, storageMigration, population }: Context, storage: string): readonly string[] {
  const resource = resourceOf(kind);
  const patch = JSON.stringify({ status: { storedVersions: [storage] } });
  const shorten = `kubectl patch crd ${resource} --subresource=status --type=merge -p '${patch}'`;
  // kubectl replace fails on an empty list.
  if (population.count === 0) return [`kubectl get ${resource} --all-namespaces`, shorten];
  // kubectl would reject errors in unchanged fields, which the API server ignores.
  if (storageMigration !== 'v1')
    return [
      `kubectl get ${resource} --all-namespaces -o json | kubectl replace${population.rejected.length === 0 ? '' : ' --validate=false'} -f -`,
      shorten,
    ];
  const [plural = '', ...group] = resource.split('.');
  const object = {
    apiVersion: 'storagemigration.k8s.io/v1',
    kind: 'StorageVersionMigration',
    metadata: { name: resource },
    spec: { resource: { group: group.join('.'), resource: plural } },
  };
  return [
    `kubectl delete storageversionmigration ${resource} --ignore-not-found`,
    `echo '${JSON.stringify(object)}' | kubectl create -f -`,
    `kubectl wait --for=condition=Succeeded storageversionmigration/${resource} --timeout=5m`,
    shorten,
  ];
}

function recreation(kind: SchemaKind, target: Target): readonly string[] {
  const resource = resourceOf(kind);
  const file = `${resource}.yaml`;
  return [
    `kubectl get ${resource} --all-namespaces -o yaml > ${file}`,
    `kubectl delete crd ${resource}`,
    installOneCommand(kind, target.bundle),
    `"\${EDITOR:-vi}" ${file}   # write ${readVersion(kind, target.bundle) ?? ''} with its fields; remove status, uid and resourceVersion`,
    `kubectl create -f ${file}`,
  ];
}
