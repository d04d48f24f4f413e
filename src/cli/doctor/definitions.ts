import { annotatedBundle, bundleVersionOf, releasedAs } from '../../cluster/installed-bundle.ts';
import { incompleteBundle, mainBundle, needed, ofGateway } from '../../cluster/main-bundle.ts';
import { safeUpgrades } from '../../core/preflight/environment-table.ts';
import {
  isSameBundle,
  isSupportedBundle,
  minors,
  nameOfBundle,
  parseBundleVersion,
  releases,
  supportedBundles,
} from '../../core/schema/index.ts';
import { quote } from '../../core/text/display.ts';
import type { InstalledKind } from '../../kubernetes/index.ts';
import { fail, ok, warn, type Check, type DoctorFacts, type Verdict } from './facts.ts';
import { channelOf, commonChannel, install, known, maintained, newest } from './installed-kinds.ts';

/** The kinds in the standard channel of the newest bundle, with the versions that their CRDs list, in both channels. */
const bundled: Readonly<Record<string, readonly string[]>> = {
  backendtlspolicies: ['v1', 'v1alpha3'],
  gatewayclasses: ['v1', 'v1beta1'],
  gateways: ['v1', 'v1beta1'],
  grpcroutes: ['v1'],
  httproutes: ['v1', 'v1beta1'],
  listenersets: ['v1'],
  referencegrants: ['v1', 'v1beta1'],
  tcproutes: ['v1', 'v1alpha2'],
  tlsroutes: ['v1', 'v1alpha2', 'v1alpha3'],
  udproutes: ['v1', 'v1alpha2'],
};

/** Checks of the CRDs of the Gateway API. */
export const definitionChecks: readonly Check[] = [
  presence,
  establishment,
  bundleVersion,
  downgrade,
  channel,
  schemas,
  storedVersions,
];

function presence({ kinds }: DoctorFacts): readonly Verdict[] {
  if (kinds.type === 'unknown')
    return [
      warn(
        'crds-installed',
        `cannot list CRDs: ${kinds.problem}`,
        'kubectl auth can-i list customresourcedefinitions.apiextensions.k8s.io',
      ),
    ];
  const found = new Set(ofGateway(kinds.value).map(({ plural }) => plural));
  if (found.size === 0) return [fail('crds-installed', 'no Gateway API CRDs found', install('standard'))];
  const missing = needed.filter((plural) => !found.has(plural));
  const command = install(commonChannel(kinds.value) ?? 'standard');
  if (missing.length > 0) return [fail('crds-installed', `required CRDs not found: ${missing.join(', ')}`, command)];
  const incomplete = incompleteBundle(kinds.value);
  if (incomplete !== undefined)
    return [
      warn(
        'crds-installed',
        `the bundle is incomplete; CRDs not found: ${incomplete.absent.join(', ')}`,
        ...reinstallMain(kinds.value),
      ),
    ];
  return [ok('crds-installed', `${found.size} Gateway API kinds are installed`)];
}

function reinstallMain(kinds: readonly InstalledKind[]): readonly string[] {
  const main = mainBundle(kinds);
  return main === undefined ? [] : [install(main.bundle.channel, main.version)];
}

function establishment({ kinds }: DoctorFacts): readonly Verdict[] {
  return known(kinds).flatMap(({ name, established, deleting }) => {
    if (deleting)
      return [
        fail(
          'crds-established',
          `${name} is being deleted. The deletion completes when its objects are deleted. A GatewayClass stays while a Gateway uses it`,
          `kubectl get ${name} -A`,
        ),
      ];
    return established ? [] : [fail('crds-established', `${name} is not served`, `kubectl describe crd ${name}`)];
  });
}

function bundleVersion({ kinds }: DoctorFacts): readonly Verdict[] {
  const installed = maintained(known(kinds));
  if (installed.length === 0) return [];
  const versions = new Map(Object.entries(Object.groupBy(installed, bundleVersionOf)));
  const command = install(commonChannel(installed) ?? 'standard');
  if (versions.size > 1) {
    const parts = [...versions].map(
      ([version, some = []]) => `${version || 'without version'}: ${some.map(({ plural }) => plural).join(', ')}`,
    );
    return [fail('crds-bundle', `CRDs come from several bundles (${parts.join('; ')})`, command)];
  }
  const [version = ''] = versions.keys();
  const read = parseBundleVersion(version);
  if (!read.ok)
    return [
      warn(
        'crds-bundle',
        `invalid bundle version in the CRD annotations (${quote(version)}): ${read.problem}`,
        command,
      ),
    ];
  if (isSupportedBundle(version)) return [ok('crds-bundle', `bundle ${version}`)];
  return [
    warn(
      'crds-bundle',
      `bundle ${version} is not fully supported; supported bundles: ${supportedBundles.join(', ')}`,
      command,
    ),
  ];
}

/** The policy of a bundle remains when older CRDs replace newer ones. */
function downgrade({ kinds, guardedBundle }: DoctorFacts): readonly Verdict[] {
  const guarded = guardedBundle.type === 'known' ? guardedBundle.value : undefined;
  if (guarded === undefined) return [];
  const older = ofGateway(known(kinds)).filter((kind) => rank(bundleVersionOf(kind)) < rank(guarded));
  if (older.length === 0) return [];
  const names = older.map(({ plural }) => plural).join(', ');
  const message = `${names}: older than bundle ${guarded}, which was installed before (recorded in ${safeUpgrades}). The next write of an object removes fields that only the newer bundle has`;
  return [fail('crds-downgraded', message, install(commonChannel(older) ?? 'standard', guarded))];
}

function channel({ kinds }: DoctorFacts): readonly Verdict[] {
  const installed = maintained(known(kinds));
  if (installed.length === 0) return [];
  const standard = installed.filter((kind) => channelOf(kind) === 'standard');
  const experimental = installed.filter((kind) => channelOf(kind) === 'experimental');
  const neither = installed.length - standard.length - experimental.length;
  if (neither > 0) return [warn('crds-channel', `${neither} CRDs have no channel annotation`, install('standard'))];
  if (standard.length === 0)
    return [ok('crds-channel', 'experimental channel: fields may change or disappear without notice')];
  if (experimental.length === 0) return [ok('crds-channel', 'standard channel')];
  const names = experimental.map(({ plural }) => plural).join(', ');
  return [
    warn(
      'crds-channel',
      `CRDs come from both channels: ${names} are experimental, the others are standard`,
      install('standard'),
    ),
  ];
}

/** Annotations may be wrong. The schema identifies a CRD reliably. */
function schemas({ kinds }: DoctorFacts): readonly Verdict[] {
  const installed = ofGateway(known(kinds));
  const departures = Map.groupBy(installed, departure);
  departures.delete(undefined);
  if (installed.length > 0 && departures.size === 0) return [ok('crds-schema', 'all schemas match a release')];
  return [...departures].map(([message, some]) =>
    warn('crds-schema', `${some.map(({ name }) => name).join(', ')}: ${message}`, ...some.slice(0, 1).map(reinstall)),
  );
}

/** How the schema differs from the release in the annotations. `undefined` if it does not, or if neither is known. */
function departure(kind: InstalledKind): string | undefined {
  const annotated = annotatedBundle(kind);
  const released = releasedAs(kind);
  const schema = released.at(-1);
  if (annotated !== undefined && released.some((bundle) => isSameBundle(bundle, annotated))) return undefined;
  if (schema !== undefined) {
    const said = annotated === undefined ? 'no released bundle' : nameOfBundle(annotated);
    return `the annotations name ${said}, but the schema matches ${nameOfBundle(schema)}. The webhook validates against ${nameOfBundle(schema)}`;
  }
  if (annotated === undefined) return undefined;
  return `the schema does not match release ${nameOfBundle(annotated)}: it was modified, or it is newer than this program. Violations of ${nameOfBundle(annotated)} get warnings only`;
}

/** Never suggests an older bundle than the one of the annotations or the schema. */
function reinstall(kind: InstalledKind): string {
  const annotated = annotatedBundle(kind);
  const schema = releasedAs(kind).at(-1);
  const isLabelled =
    annotated !== undefined &&
    (schema === undefined || minors.indexOf(annotated.minor) >= minors.indexOf(schema.minor));
  const command = isLabelled
    ? install(annotated.channel, bundleVersionOf(kind))
    : install(schema?.channel ?? 'standard', schema && releases[schema.minor]);
  // The manager that changed a CRD owns the changed fields.
  return `${command} --force-conflicts`;
}

function storedVersions({ kinds }: DoctorFacts): readonly Verdict[] {
  const installed = ofGateway(known(kinds));
  if (installed.length === 0) return [];
  const blocking = installed.flatMap((kind) => blocked(kind));
  return blocking.length === 0
    ? [ok('crds-stored-versions', `stored versions allow an upgrade to ${newest}`)]
    : blocking;
}

/** The API server rejects a CRD without a version that is in status.storedVersions. */
function blocked(kind: InstalledKind): readonly Verdict[] {
  const listed = bundled[kind.plural];
  const gone = listed === undefined ? [] : kind.storedVersions.filter((version) => !listed.includes(version));
  if (gone.length === 0) return [];
  const storage = kind.versions.find((version) => version.storage)?.name;
  const message = `${kind.name}: objects may be stored as ${gone.join(', ')}, which bundle ${newest} does not serve. The API server would reject the upgrade`;
  // While the storage version is one that goes away, rewriting the objects changes nothing.
  if (storage === undefined || gone.includes(storage)) {
    return [
      fail(
        'crds-stored-versions',
        `${message}. First install a bundle that has both ${storage ?? 'it'} and a version of ${newest}, then run doctor again`,
      ),
    ];
  }
  return [fail('crds-stored-versions', message, ...rewrite(kind, storage))];
}

function rewrite({ name }: InstalledKind, storage: string): readonly string[] {
  const patch = JSON.stringify({ status: { storedVersions: [storage] } });
  return [
    `kubectl get ${name} --all-namespaces -o json | kubectl replace -f -`,
    `kubectl patch crd ${name} --subresource=status --type=merge -p '${patch}'`,
  ];
}

/** The age of a bundle: higher is newer. An invalid version counts as the newest, so that nothing is concluded from it. */
function rank(version: string): number {
  const read = parseBundleVersion(version);
  return read.ok ? minors.indexOf(read.minor) : Infinity;
}
