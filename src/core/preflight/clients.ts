import { describeRef } from '../resources/reference.ts';
import { schemaTables } from '../schema/index.ts';
import { display, someOf } from '../text/display.ts';
import { recordOf, recordsOf } from '../text/record.ts';
import { counted, shellWord, type PreflightFinding } from './finding.ts';
import {
  listedVersions,
  nameOfTarget,
  readVersion,
  showCommand,
  textsOf,
  type StoredObject,
  type Target,
} from './target.ts';
import { groupOf } from '../text/api-version.ts';

interface Use {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly object: StoredObject;
}

/**
 * Finds clients that write objects in a version which the target does not serve, or serves as deprecated, by the field managers
 * of the stored objects. A client that no longer writes is still listed, because the API server keeps its entry.
 */
export function judgeClients(objects: readonly StoredObject[], target: Target): readonly PreflightFinding[] {
  const uses = objects.flatMap((object) =>
    usesOf(object).filter(({ apiVersion }) => stateOf(object, apiVersion, target) !== 'current'),
  );
  const groups = Map.groupBy(uses, ({ manager, apiVersion, object, subresource }) =>
    JSON.stringify([manager, object.kind, apiVersion, subresource]),
  );
  return [...groups.values()].flatMap((some) => {
    const [first] = some;
    return first === undefined
      ? []
      : [
          findingOf(
            first,
            some.map(({ object }) => object),
            target,
          ),
        ];
  });
}

function usesOf(object: StoredObject): readonly Use[] {
  const { group } = schemaTables[object.kind];
  return recordsOf(recordOf(object.json['metadata'])['managedFields']).flatMap(({ manager, apiVersion, subresource }) =>
    typeof manager === 'string' && typeof apiVersion === 'string' && groupOf(apiVersion) === group
      ? [{ manager, apiVersion, subresource: typeof subresource === 'string' ? subresource : '', object }]
      : [],
  );
}

function stateOf(
  { kind }: StoredObject,
  apiVersion: string,
  { bundle }: Target,
): 'unserved' | 'deprecated' | 'current' {
  const versions = listedVersions(kind, bundle);
  // Kinds that the target does not have are reported by another check.
  if (versions.length === 0) return 'current';
  const version = versions.find(({ name }) => apiVersion.endsWith(`/${name}`));
  if (version?.served !== true) return 'unserved';
  return version.deprecated === true ? 'deprecated' : 'current';
}

function findingOf(
  { manager, apiVersion, subresource, object }: Use,
  objects: readonly StoredObject[],
  target: Target,
): PreflightFinding {
  const { kind } = object;
  const isUnserved = stateOf(object, apiVersion, target) === 'unserved';
  const written =
    subresource === '' ? counted(objects.length, kind) : `the ${subresource} of ${counted(objects.length, kind)}`;
  const fate = isUnserved ? 'does not serve that version: its next write fails' : 'serves that version as deprecated';
  const names = someOf(objects.map(({ ref }) => describeRef(ref)));
  const applications = [...new Set(objects.flatMap(applicationOf))];
  return {
    check: 'old-clients',
    severity: isUnserved ? 'warning' : 'note',
    subject: `${display(manager)} (${apiVersion})`,
    message: `The client "${display(manager)}" wrote ${written} as ${apiVersion} (${names}). ${nameOfTarget(target)} ${fate}. Use ${schemaTables[kind].group}/${readVersion(kind, target.bundle) ?? ''}.`,
    commands: applications.length === 0 ? [showCommand(object)] : applications.slice(0, 5),
  };
}

/** Returns commands that show the release or application that owns an object, by the annotations and labels of Helm, Argo CD and Flux. */
function applicationOf({ json }: StoredObject): readonly string[] {
  const metadata = recordOf(json['metadata']);
  const [annotations, labels] = [textsOf(metadata['annotations']), textsOf(metadata['labels'])];
  const release = annotations['meta.helm.sh/release-name'];
  const [application = ''] = (
    annotations['argocd.argoproj.io/tracking-id'] ??
    labels['argocd.argoproj.io/instance'] ??
    ''
  ).split(':');
  const kustomization = labels['kustomize.toolkit.fluxcd.io/name'];
  return [
    ...(release === undefined
      ? []
      : [
          `helm get manifest ${shellWord(release)} -n ${shellWord(annotations['meta.helm.sh/release-namespace'] ?? 'default')}`,
        ]),
    ...(application === '' ? [] : [`argocd app manifests ${shellWord(application)}`]),
    ...(kustomization === undefined
      ? []
      : [
          `flux tree kustomization ${shellWord(kustomization)} -n ${shellWord(labels['kustomize.toolkit.fluxcd.io/namespace'] ?? 'flux-system')}`,
        ]),
  ];
}
