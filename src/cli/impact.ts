import { observes, type Unobserved } from '../core/graph/observed.ts';
import type { NamedObject } from '../core/admission/impact.ts';
import type { Effect } from '../core/impact/effect.ts';
import { compareRouting } from '../core/impact/routing.ts';
import { compareStatuses } from '../core/impact/statuses.ts';
import { keyOfRef, quoteRef, refOfKey } from '../core/resources/reference.ts';
import { tables, type KindName } from '../core/schema/index.ts';
import { quote } from '../core/text/display.ts';
import type { SourceDocument } from '../files/document.ts';
import { readFolder } from '../files/folder.ts';
import { identityOf, overlay, type SourceObjects, type SourceOptions } from '../sources/objects.ts';
import { withAssumedClasses } from './assumed-classes.ts';
import { emittedBy, followed, readCompleteObjects, readRoutingSettings, rejectProblems } from './evaluated.ts';
import { impactIn } from './report/in-namespace.ts';
import { impactFormats, type ImpactReport } from './report/impact.ts';
import { unobservedText } from './report/unobserved.ts';
import { policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Settings of `sallyport impact`. */
export interface ImpactOptions extends SourceOptions {
  /** Files and folders of objects to apply. */
  readonly change: readonly string[];
  /** Objects to delete: `KIND/NAMESPACE/NAME`, or `KIND/NAME` for cluster-scoped kinds and with a namespace. */
  readonly delete: readonly string[];
  /** Restricts the report to effects on objects of this namespace, and completes names of objects to delete. */
  readonly namespace: string | undefined;
  /** A settings file, whose HostnamePolicies apply instead of those in the settings of the cluster. */
  readonly settings?: string | undefined;
  /** The namespace of the controller in the cluster, whose settings apply. */
  readonly controllerNamespace: string;
  /** Names of GatewayClasses of Sallyport, if the credentials may not list GatewayClasses. Empty: all that Gateways name. */
  readonly gatewayClass: readonly string[];
  readonly failOn: 'broken' | 'changed' | 'never';
  readonly output: keyof typeof impactFormats;
}

/**
 * Reports the effect of a change on all other objects: status conditions, and requests that are routed differently.
 *
 * @returns the exit code: 1 if the change has an effect that `failOn` selects, otherwise 0
 * @throws UsageError for objects that cannot be read, and for objects to delete that are not found
 */
export async function impact(options: ImpactOptions): Promise<number> {
  if (options.change.length === 0 && options.delete.length === 0)
    throw new UsageError('No change: use --change or --delete.');
  const source = await readCompleteObjects(options);
  const change = await readFolder(options.change);
  rejectProblems(change.problems);
  const { installation, bundle } = source;
  const documents = withAssumedClasses(source, options.gatewayClass, change.documents);
  const policy = policyOf('standard', bundle);
  const workspace = followed({ documents, installation, policy, configured: await readRoutingSettings(options) });
  const before = emittedBy(workspace.kernel);
  const deleted = new Set(
    options.delete.flatMap((text) => identitiesToDelete(text, options.namespace, { ...source, documents })),
  );
  const remaining = documents.filter((document) => !deleted.has(identityOf(document) ?? ''));
  workspace.update(overlay(remaining, change.documents));
  const after = emittedBy(workspace.kernel);
  const existing = new Set(documents.map(identityOf));
  const created = new Set(
    change.documents.flatMap((document) => identityOf(document) ?? []).filter((id) => !existing.has(id)),
  );
  const routing = compareRouting(before.configuration, after.configuration);
  const report = impactIn(options.namespace, {
    statuses: compareStatuses(before.statuses, after.statuses, { created, deleted }),
    routing: routing.changes,
    incomplete: routing.incomplete,
  });
  process.stdout.write(impactFormats[options.output](report, createTerminal().style));
  return fails(report, options.failOn) ? 1 : 0;
}

/** Returns the identity of an object, and of everything that is deleted together with it. */
function identitiesToDelete(
  text: string,
  defaultNamespace: string | undefined,
  { documents, installation }: Pick<SourceObjects, 'documents' | 'installation'>,
): readonly string[] {
  const ref = parseObjectToDelete(text, defaultNamespace);
  const id = keyOfRef(ref);
  const contents = ref.kind === 'Namespace' ? contentsOf(ref.name, documents) : [];
  if (contents.length === 0 && !documents.some((document) => identityOf(document) === id)) {
    const reason = observes(installation, ref) ? '' : `: ${unobservedText(ref)}`;
    throw new UsageError(`${quoteRef(ref)} not found${reason}.`);
  }
  return [id, ...contents];
}

function parseObjectToDelete(text: string, defaultNamespace: string | undefined): NamedObject & Unobserved {
  const [kind = '', ...rest] = text.split('/');
  const found = (Object.keys(tables) as KindName[]).find((name) =>
    [name.toLowerCase(), tables[name].plural].includes(kind.toLowerCase()),
  );
  if (found === undefined)
    throw new UsageError(
      `Unsupported kind ${quote(kind)} in --delete ${quote(text)}. Use a kind that the Gateway API refers to, such as service or httproute.`,
    );
  const entry = tables[found];
  const isNameOnly = entry.namespaced && rest.length === 1 && defaultNamespace !== undefined;
  const prefix = entry.namespaced ? [] : [''];
  const parts = [...(isNameOnly ? [defaultNamespace] : prefix), ...rest];
  const [namespace = '', name = ''] = parts;
  if (parts.length !== 2 || name === '' || (entry.namespaced && namespace === '')) {
    throw new UsageError(
      `Invalid object ${quote(text)} in --delete. Use ${entry.namespaced ? `${kind}/NAMESPACE/NAME` : `${kind}/NAME`}.`,
    );
  }
  return { kind: found, namespace, name };
}

/** Returns the objects in a Namespace. Kubernetes deletes them together with the Namespace. */
function contentsOf(namespace: string, documents: readonly SourceDocument[]): readonly string[] {
  return documents
    .flatMap((document) => identityOf(document) ?? [])
    .filter((id) => refOfKey(id).namespace === namespace);
}

function fails({ statuses: changes, routing }: ImpactReport, failOn: ImpactOptions['failOn']): boolean {
  const effects: readonly Effect[] = [...changes, ...routing].map(({ effect }) => effect);
  if (failOn === 'never') return false;
  return failOn === 'changed' ? effects.length > 0 : effects.includes('broken');
}
