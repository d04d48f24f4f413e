import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import type { Installation } from '../core/graph/inputs.ts';
import { configuration } from '../core/routing/emit.ts';
import { statuses } from '../core/status/emit.ts';
import { formatProblem, type FileProblem, type SourceDocument } from '../files/document.ts';
import type { CredentialSource } from '../kubernetes/index.ts';
import { today } from '../webhook/today.ts';
import { Workspace, type ConfiguredJudging } from '../workspace/workspace.ts';
import { permissionNotes } from '../sources/cluster-objects.ts';
import { readObjects, type SourceObjects, type SourceOptions } from '../sources/objects.ts';
import { controllerName } from './names.ts';
import { assumedBundle, readConfigured } from './settings.ts';
import { orUsageError, UsageError } from './usage-error.ts';

/** Objects and the settings of their evaluation. */
export interface Evaluated {
  readonly documents: readonly SourceDocument[];
  readonly installation: Installation;
  readonly policy: AdmissionPolicy;
  readonly configured?: ConfiguredJudging | undefined;
}

/** The statuses and the data plane configuration that result from the objects. */
export function snapshotOf(evaluated: Evaluated) {
  return emittedBy(followed(evaluated).kernel);
}

/** A workspace of the objects that follows statuses and configuration. */
export function followed({ documents, installation, policy, configured }: Evaluated): Workspace {
  const workspace = new Workspace(installation, policy, [configuration, statuses], configured);
  workspace.update(documents);
  return workspace;
}

/** The current results of a workspace. */
export function emittedBy(kernel: Workspace['kernel']) {
  return { configuration: new Map(kernel.emitted(configuration)), statuses: new Map(kernel.emitted(statuses)) };
}

/**
 * Reads the objects of a command that needs all of them, and writes to standard error which kinds are not observed.
 *
 * @throws UsageError for no source, for files that cannot be read, and for a cluster that does not respond
 */
export async function readCompleteObjects(from: SourceOptions): Promise<SourceObjects> {
  const source = await readSource(from);
  printNotes(permissionNotes(source));
  return source;
}

/**
 * Reads the objects of a command that needs all of them. The caller reports the missing permissions, together with those of its other reads.
 *
 * @throws UsageError for no source, for files that cannot be read, and for a cluster that does not respond
 */
export async function readSource(from: SourceOptions): Promise<SourceObjects> {
  if (from.files.length === 0 && from.cluster === undefined)
    throw new UsageError('No objects: use --files or --cluster.');
  const source = await orUsageError(
    'the source of objects',
    readObjects(from, { bundle: assumedBundle, controllerName, scope: 'closed' }),
  );
  rejectProblems(source.problems);
  return source;
}

/** Where settings come from: a file, or the ConfigMap of a cluster. */
interface SettingsSource {
  /** A settings file, which replaces the settings of the cluster. */
  readonly settings?: string | undefined;
  readonly cluster?: CredentialSource | undefined;
}

/**
 * Reads the settings by which a command judges objects: none if there is a profile. Writes to standard error if they may not be read.
 *
 * @param source `webhookNamespace`: the namespace of the webhook in the cluster
 * @throws UsageError for an invalid file or ConfigMap, and for a cluster that does not respond
 */
export async function readJudgingSettings({
  profile,
  webhookNamespace,
  ...source
}: SettingsSource & {
  readonly profile: Profile | undefined;
  readonly webhookNamespace: string;
}): Promise<ConfiguredJudging | undefined> {
  return profile === undefined ? readSettings(source, webhookNamespace, 'the profile standard applies') : undefined;
}

/**
 * Reads the settings by which the controller routes requests. Writes to standard error if they may not be read.
 *
 * @param source `controllerNamespace`: the namespace of the controller in the cluster
 * @throws UsageError for an invalid file or ConfigMap, and for a cluster that does not respond
 */
export function readRoutingSettings({
  controllerNamespace,
  ...source
}: SettingsSource & { readonly controllerNamespace: string }): Promise<ConfiguredJudging | undefined> {
  return readSettings(source, controllerNamespace, 'their hostnamePolicies are ignored');
}

/** @param otherwise what applies if the settings may not be read, for the message */
async function readSettings(
  { settings, cluster }: SettingsSource,
  namespace: string,
  otherwise: string,
): Promise<ConfiguredJudging | undefined> {
  if (settings !== undefined || cluster === undefined) return readConfigured(settings);
  const { readWebhookSettings } = await import('./live/webhook-settings.ts');
  const found = await orUsageError('the cluster', readWebhookSettings(cluster, namespace));
  if (found.type === 'settings') return { settings: found.settings, today: today() };
  if (found.type === 'forbidden')
    printNotes([`The settings in namespace "${namespace}" are not observed, ${otherwise}: ${found.message}`]);
  return undefined;
}

/** Writes notes about missing permissions to standard error. */
export function printNotes(notes: readonly string[]): void {
  for (const note of notes) process.stderr.write(`${note}\n`);
}

/** Rejects an incomplete set of objects, which would give wrong results. @throws UsageError for files that cannot be read */
export function rejectProblems(problems: readonly FileProblem[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new UsageError(errors.map(formatProblem).join('\n'));
}
