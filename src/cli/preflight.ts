import { bundleOfKind } from '../cluster/installed-bundle.ts';
import type { Installation } from '../core/graph/inputs.ts';
import { lostAccepted, readRouteStates, routeStates, type RouteState } from '../core/preflight/accepted.ts';
import { isUnobserved } from '../core/preflight/environment.ts';
import { noCluster, type ClusterFacts } from '../core/preflight/facts.ts';
import type { PreflightFinding } from '../core/preflight/finding.ts';
import { judgeChange } from '../core/preflight/preflight.ts';
import {
  asServedBy,
  editCommand,
  gatewayKinds,
  installCommand,
  listedVersions,
  nameOfTarget,
  storedObject,
  type StoredObject,
  type Target,
} from '../core/preflight/target.ts';
import { installationOf } from '../core/admission/installation.ts';
import { compareRouting } from '../core/impact/routing.ts';
import { compareStatuses } from '../core/impact/statuses.ts';
import { nameOfBundle, type Bundle } from '../core/schema/index.ts';
import type { SourceDocument } from '../files/document.ts';
import { readInstalledKind, type KubernetesObject } from '../kubernetes/index.ts';
import type { SourceObjects, SourceOptions } from '../sources/objects.ts';
import { permissionNotes } from '../sources/cluster-objects.ts';
import { definitionOf, readUpgradeFacts, type UpgradeFacts } from '../sources/upgrade-facts.ts';
import type { ConfiguredJudging } from '../workspace/workspace.ts';
import { withAssumedClasses } from './assumed-classes.ts';
import { printNotes, readRoutingSettings, readSource, snapshotOf } from './evaluated.ts';
import { effectLines, type ImpactReport } from './report/impact.ts';
import { findingsIn, impactIn } from './report/in-namespace.ts';
import { preflightFormats, type PreflightReport } from './report/preflight.ts';
import { readReportFile } from './report/report-file.ts';
import { controllerName } from './names.ts';
import { policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { orUsageError, UsageError } from './usage-error.ts';

/** Settings of `sallyport preflight`. */
export interface PreflightOptions extends SourceOptions {
  /** The target bundle. `undefined` to only compare the routes with a report. */
  readonly target: Target | undefined;
  /** A JSON report of an earlier run. */
  readonly since: string | undefined;
  /** Restricts findings about objects to those of this namespace. */
  readonly namespace: string | undefined;
  /** Names of GatewayClasses of Sallyport, if the credentials may not list GatewayClasses. Empty: all that Gateways name. */
  readonly gatewayClass: readonly string[];
  /** A settings file, whose HostnamePolicies apply instead of those in the settings of the cluster. */
  readonly settings?: string | undefined;
  /** The namespace of the controller in the cluster, whose settings apply. */
  readonly controllerNamespace: string;
  readonly output: keyof typeof preflightFormats;
}

/**
 * Reports what prevents an upgrade of a cluster's CRDs to another bundle, or, with `since`, which routes are no longer Accepted.
 *
 * @returns the exit code: 1 if there is a blocker or a route that is no longer Accepted, otherwise 0
 * @throws UsageError for objects or reports that cannot be read
 */
export async function preflight(options: PreflightOptions): Promise<number> {
  const { files, cluster, namespace, target, since } = options;
  const earlier = since === undefined ? undefined : await readEarlier(since);
  const source = await readSource({ files, cluster, namespace });
  const { facts, others, missing } =
    cluster === undefined
      ? ofFiles(source)
      : await orUsageError('the cluster', readUpgradeFacts(cluster, source, namespace));
  printNotes(permissionNotes(missing));
  const objects = [...source.documents.map(({ value }) => value), ...others].flatMap(storedObject);
  const present = installedIn(source, cluster === undefined);
  const routes = routeStates(objects);
  const complete =
    target === undefined
      ? comparison({ from: nameOfBundle(present.bundle), objects, routes }, earlier ?? [])
      : prediction(
          {
            source: { ...source, ...present, documents: withAssumedClasses(source, options.gatewayClass) },
            facts,
            objects,
            routes,
            earlier: earlier ?? [],
            namespace,
            configured: await readRoutingSettings(options),
          },
          target,
        );
  const report = { ...complete, findings: findingsIn(namespace, complete.findings) };
  process.stdout.write(preflightFormats[options.output](report, createTerminal().style));
  return report.findings.some(({ severity }) => severity === 'blocker') ? 1 : 0;
}

function ofFiles({ definitions, forbidden }: SourceObjects): UpgradeFacts {
  return { facts: { ...noCluster, definitions: definitions.map(definitionOf) }, others: [], missing: { forbidden } };
}

interface Present {
  readonly source: SourceObjects;
  readonly facts: ClusterFacts;
  readonly objects: readonly StoredObject[];
  readonly routes: readonly RouteState[];
  readonly earlier: readonly RouteState[];
  readonly namespace: string | undefined;
  readonly configured: ConfiguredJudging | undefined;
}

function prediction(present: Present, target: Target): PreflightReport {
  const { source, facts, objects, routes, earlier, namespace } = present;
  const judged = [...judgeChange(objects, facts, target), ...lostAccepted(earlier, routes)];
  const effects = effectsOf(present, target);
  // Effects in other namespaces, which are not reported, count as well.
  const findings = [...judged, ...effectFindings(effects)];
  const isReady = !findings.some((finding) => finding.severity === 'blocker' || isUnobserved(finding));
  return {
    version: 1,
    from: nameOfBundle(source.bundle),
    to: nameOfTarget(target),
    objects: objects.length,
    findings: [...judged, ...effectFindings(impactIn(namespace, effects))],
    ...(isReady && { upgrade: installCommand(target) }),
    routes,
  };
}

function comparison(
  {
    from,
    objects,
    routes,
  }: { readonly from: string; readonly objects: readonly StoredObject[]; readonly routes: readonly RouteState[] },
  earlier: readonly RouteState[],
): PreflightReport {
  return { version: 1, from, objects: objects.length, findings: lostAccepted(earlier, routes), routes };
}

/** Compares statuses and requests of our routes before and after the change. */
function effectsOf({ source: { documents, installation, bundle }, configured }: Present, target: Target): ImpactReport {
  const before = snapshotOf({ documents, installation, policy: policyOf('standard', bundle), configured });
  const changed = documents.map((document) => ({ ...document, value: converted(document.value, target.bundle) }));
  const after = snapshotOf({
    documents: changed,
    installation: installationAfter(installation, target),
    policy: policyOf('standard', target.bundle),
    configured,
  });
  const routing = compareRouting(before.configuration, after.configuration);
  const statuses = compareStatuses(before.statuses, after.statuses, { created: new Set(), deleted: new Set() });
  return { statuses, routing: routing.changes, incomplete: routing.incomplete };
}

const severities = { broken: 'blocker', changed: 'warning', recovered: 'note' } as const;

function effectFindings(effects: ImpactReport): readonly PreflightFinding[] {
  return effectLines(effects).map(({ effect, about, subject, before, after }) => ({
    check: 'status-and-traffic',
    severity: severities[effect],
    subject,
    message: `Before: ${before}. After: ${after}.`.replaceAll('..', '.'),
    commands: editCommandsOf(about),
  }));
}

const described = /^(?<kind>[A-Z]\w*) (?:(?<namespace>[^/\s]+)\/)?(?<name>[^/\s,]+)/;

/** @param object `HTTPRoute shop/cart` or `GatewayClass shop`, also with more text behind it */
function editCommandsOf(object: string): readonly string[] {
  const { kind, namespace = '', name = '' } = described.exec(object)?.groups ?? {};
  const found = gatewayKinds.find((one) => one === kind);
  return found === undefined ? [] : [editCommand({ kind: found, ref: { namespace, name } })];
}

/** The target replaces the CRDs of its own kinds. CRDs of other kinds stay. */
function installationAfter(installation: Installation, { bundle, version }: Target): Installation {
  const kinds = gatewayKinds.filter((kind) => listedVersions(kind, bundle).length > 0);
  return {
    ...installation,
    bundles: { ...installation.bundles, ...Object.fromEntries(kinds.map((kind) => [kind, bundle])) },
    incomplete: undefined,
    bundleVersions: { ...installation.bundleVersions, ...Object.fromEntries(kinds.map((kind) => [kind, version])) },
  };
}

function converted(value: SourceDocument['value'], bundle: Bundle): SourceDocument['value'] {
  const [object] = storedObject(value);
  return object === undefined ? value : (asServedBy(object.kind, object.json, bundle) ?? value);
}

/** CRDs in files determine the installed bundle. */
function installedIn(
  { bundle, installation, definitions }: SourceObjects,
  isFilesOnly: boolean,
): Pick<SourceObjects, 'bundle' | 'installation'> {
  const routes = definitions.find(isOfRoutes);
  if (!isFilesOnly || routes === undefined) return { bundle, installation };
  const installed = bundleOfKind(readInstalledKind(routes)).bundle;
  return { bundle: installed, installation: installationOf(installed, controllerName) };
}

function isOfRoutes({ metadata: { name } }: KubernetesObject): boolean {
  return name === 'httproutes.gateway.networking.k8s.io';
}

async function readEarlier(file: string): Promise<readonly RouteState[]> {
  const states = readRouteStates(await readReportFile(file));
  if (states === undefined)
    throw new UsageError(
      `The report ${file} has no valid list of routes. Create it with "sallyport preflight --cluster --to VERSION -o json".`,
    );
  return states;
}
