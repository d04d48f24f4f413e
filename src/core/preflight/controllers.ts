import { minors, nameOfBundle, type Bundle, type SchemaKind } from '../schema/index.ts';
import { display, someOf } from '../text/display.ts';
import { recordOf } from '../text/record.ts';
import { knownControllers, type ControllerRequirement, type KnownController } from './controllers-table.ts';
import { counted, type PreflightFinding } from './finding.ts';
import { listedVersions, nameOfTarget, resourceOf, type StoredObject, type Target } from './target.ts';

/**
 * Reports requirements of the controllers whose GatewayClasses exist, and the order of upgrades of controllers and CRDs. The
 * cluster does not show the release of a controller, so the finding names every release that fails with the target or with the
 * installed CRDs.
 *
 * @param installed the current bundle of a kind; `undefined` if its CRD is not installed
 */
export function judgeControllers(
  objects: readonly StoredObject[],
  target: Target,
  installed: (kind: SchemaKind) => Bundle | undefined,
): readonly PreflightFinding[] {
  const classes = objects.filter(({ kind }) => kind === 'GatewayClass');
  const byController = Map.groupBy(classes, ({ json }) => recordOf(json['spec'])['controllerName']);
  return [...byController].flatMap(([controllerName, some]) => {
    const controller = knownControllers.find(({ controllerNames }) =>
      controllerNames.some((name) => name === controllerName),
    );
    if (controller === undefined) return [];
    const subject = `${controller.name} (GatewayClass ${someOf(some.map(({ ref }) => display(ref.name)))})`;
    return requirementsOf(controller).flatMap(([kind, requirements]) =>
      judgeKind(
        { controller, subject, kind, requirements, count: objects.filter((object) => object.kind === kind).length },
        target,
        installed(kind),
      ),
    );
  });
}

interface Dependency {
  readonly controller: KnownController;
  readonly subject: string;
  readonly kind: SchemaKind;
  readonly requirements: readonly ControllerRequirement[];
  /** The number of objects of the kind. */
  readonly count: number;
}

function requirementsOf({
  requirements,
}: KnownController): readonly (readonly [SchemaKind, readonly ControllerRequirement[]])[] {
  const kinds = [...new Set(requirements.flatMap((requirement) => requirement.kinds))];
  return kinds.map((kind) => [kind, requirements.filter((requirement) => requirement.kinds.includes(kind))]);
}

function judgeKind(dependency: Dependency, target: Target, before: Bundle | undefined): readonly PreflightFinding[] {
  const { controller, subject, kind, requirements, count } = dependency;
  if (listedVersions(kind, target.bundle).length === 0) return [];
  const failing = requirements.filter(({ version }) => !serves(kind, version, target.bundle));
  const fitting = requirements.filter(({ version }) => serves(kind, version, target.bundle));
  const finding = {
    check: 'controllers',
    severity: count > 0 ? 'warning' : 'note',
    subject,
    // kubectl cannot list a kind without a CRD. The classes show which controller needs it.
    commands: [
      before === undefined
        ? `kubectl get ${resourceOf('GatewayClass')}`
        : `kubectl get ${resourceOf(kind)} --all-namespaces`,
    ],
  } as const;
  if (failing.length > 0) {
    return failing.map((requirement): PreflightFinding => ({
      ...finding,
      message: `${releasesOf(controller, requirement)} read ${kind} as ${requirement.version}, which ${nameOfTarget(target)} does not serve.${count === 0 ? ' There are no objects of that kind now.' : ` ${counted(count, kind)} would not be read.`}${fitting.map((other) => ` ${releasesOf(controller, other)} read ${other.version}.${orderOf(kind, other, before)}`).join('')}`,
      source: requirement.source,
    }));
  }
  const later = before === undefined ? [] : fitting.filter(({ version }) => !serves(kind, version, before));
  return later.map((requirement): PreflightFinding => ({
    ...finding,
    severity: 'note',
    message: `${releasesOf(controller, requirement)} read ${kind} as ${requirement.version}, which the installed CRDs do not serve. Upgrade the CRDs first, then the controller.`,
    source: requirement.source,
  }));
}

/** Returns the order of the upgrades. Unless a bundle serves both versions, no controller reads the objects for some time. */
function orderOf(kind: SchemaKind, { version }: ControllerRequirement, before: Bundle | undefined): string {
  if (before === undefined) return '';
  if (serves(kind, version, before))
    return ` ${nameOfBundle(before)} serves it already: upgrade the controller first, then the CRDs.`;
  const bridge: Bundle = { minor: firstMinorOf(kind, version) ?? before.minor, channel: 'experimental' };
  return ` ${nameOfBundle(before)} does not serve it: upgrade the CRDs to ${nameOfBundle(bridge)} first, which serves both versions, then the controller, then the CRDs to the target.`;
}

function firstMinorOf(kind: SchemaKind, version: string): Bundle['minor'] | undefined {
  return minors.find((minor) => serves(kind, version, { minor, channel: 'experimental' }));
}

function serves(kind: SchemaKind, version: string, bundle: Bundle): boolean {
  return listedVersions(kind, bundle).some(({ name, served }) => name === version && served);
}

function releasesOf({ name }: KnownController, { from, until }: ControllerRequirement): string {
  if (until !== undefined) return `Releases of ${name} before ${until}`;
  return from === undefined ? name : `Releases of ${name} from ${from} on`;
}
