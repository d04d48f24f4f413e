import { bundleOfKind, bundleVersionOf } from '../../cluster/installed-bundle.ts';
import { mainBundle } from '../../cluster/main-bundle.ts';
import { safeUpgrades } from '../../core/preflight/environment-table.ts';
import { someOf } from '../../core/text/display.ts';
import { formerFields } from '../../core/preflight/former-fields.ts';
import { minors, resolveAll, schemaTables, type KindTable } from '../../core/schema/index.ts';
import type { InstalledKind } from '../../kubernetes/index.ts';
import { ok, warn, type Check, type DoctorFacts, type Verdict } from './facts.ts';
import { install, known, leftovers, schemaKindOf } from './installed-kinds.ts';

/** Checks of the bundle as a whole: leftovers of other bundles, the policy against downgrades, and traces of a downgrade. */
export const bundleChecks: readonly Check[] = [leftoverKinds, experimentalGroup, guard, droppedFields];

function leftoverKinds({ kinds }: DoctorFacts): readonly Verdict[] {
  const main = mainBundle(known(kinds));
  if (main === undefined) return [];
  const { version, bundle } = main;
  return leftovers(known(kinds)).map((installed) => {
    const message = `${installed.name} does not belong to bundle ${version} ${bundle.channel}: an upgrade does not change it, and controllers may ignore its objects.${successorOf(installed, main.bundle)}`;
    return warn('crds-leftover', message, `kubectl get ${installed.name} --all-namespaces`);
  });
}

function successorOf(installed: InstalledKind, bundle: Parameters<typeof resolveAll>[1]): string {
  const kind = schemaKindOf(installed);
  const table: KindTable | undefined = kind && schemaTables[kind];
  const [successor] = table?.instead === undefined ? [] : resolveAll([table.instead], bundle);
  return successor === undefined ? '' : ` Use ${successor}.`;
}

/** CRDs of the group x-k8s.io come only with the experimental channel, and are easily forgotten in an upgrade. */
function experimentalGroup({ kinds }: DoctorFacts): readonly Verdict[] {
  const main = mainBundle(known(kinds));
  if (main === undefined) return [];
  const left = new Set(leftovers(known(kinds)));
  const others = known(kinds).filter(
    (kind) => kind.group.endsWith('.x-k8s.io') && !left.has(kind) && bundleVersionOf(kind) !== main.version,
  );
  if (others.length === 0) return [];
  const names = others.map((kind) => `${kind.name} (${bundleVersionOf(kind) || 'without version'})`).join(', ');
  return [
    warn(
      'crds-experimental-group',
      `${names}: not from bundle ${main.version} like the other CRDs`,
      install(main.bundle.channel, main.version),
    ),
  ];
}

/** Bundles contain the policy since v1.5. */
function guard({ kinds, guardedBundle, guardBinding }: DoctorFacts): readonly Verdict[] {
  const main = mainBundle(known(kinds));
  if (main === undefined || minors.indexOf(main.bundle.minor) < minors.indexOf('1.5')) return [];
  if (guardedBundle.type === 'unknown')
    return [
      warn(
        'crds-guard',
        `cannot read ValidatingAdmissionPolicy ${safeUpgrades}: ${guardedBundle.problem}`,
        'kubectl auth can-i get validatingadmissionpolicies.admissionregistration.k8s.io',
      ),
    ];
  if (guardBinding.type === 'unknown')
    return [
      warn(
        'crds-guard',
        `cannot read the binding of ${safeUpgrades}: ${guardBinding.problem}`,
        'kubectl auth can-i get validatingadmissionpolicybindings.admissionregistration.k8s.io',
      ),
    ];
  const isBound = !guardBinding.value ? 'its binding' : undefined;
  const missing = guardedBundle.value === undefined ? `ValidatingAdmissionPolicy ${safeUpgrades}` : isBound;
  if (missing === undefined) return [ok('crds-guard', `${safeUpgrades} denies older bundles`)];
  return [
    warn(
      'crds-guard',
      `${missing === 'its binding' ? `the binding of ${safeUpgrades}` : missing} not found: the API server accepts an older bundle, which drops fields of stored objects`,
      install(main.bundle.channel, main.version),
    ),
  ];
}

/** Field managers still list fields that an older bundle, or another channel, has dropped. */
function droppedFields({ kinds, controller: { objects } }: DoctorFacts): readonly Verdict[] {
  if (objects.type === 'unknown') return [];
  const fields = known(kinds).flatMap((installed) => {
    const kind = schemaKindOf(installed);
    const { bundle, certain } = bundleOfKind(installed);
    if (kind === undefined || !certain) return [];
    return formerFields(
      objects.value.stored.filter((object) => object.kind === kind),
      bundle,
    ).map(({ object, field }) => `${field} of ${object}`);
  });
  if (fields.length === 0) return [];
  return [
    warn(
      'crds-dropped-fields',
      `the installed CRDs lack fields that objects were written with (${someOf(fields)}): older CRDs, or those of the standard channel, replaced newer ones. The API server drops the values`,
      'sallyport preflight --cluster --to v1.7.0 --channel experimental   # shows what another bundle keeps',
    ),
  ];
}
