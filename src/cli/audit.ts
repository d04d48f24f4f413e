import type { Profile } from '../core/rules/engine/rule.ts';
import { clusterDocument, type SourceObjects, type SourceOptions } from '../sources/objects.ts';
import { permissionNotes } from '../sources/cluster-objects.ts';
import { noOthers, readOtherObjects } from '../sources/upgrade-facts.ts';
import { today } from '../webhook/today.ts';
import { Workspace, type ConfiguredJudging } from '../workspace/workspace.ts';
import { printNotes, readJudgingSettings, readSource } from './evaluated.ts';
import { packageVersion } from './package-files.ts';
import { createProgress } from './progress.ts';
import { withAnnotations } from './report/annotation.ts';
import { withBaseline } from './report/baseline.ts';
import { describeComparison, readEarlierFindings } from './report/comparison.ts';
import { ExemptionList } from './report/exemptions.ts';
import { reportWorkspace } from './report/findings.ts';
import { reportIn } from './report/in-namespace.ts';
import type { FormatName } from './report/formats/format-names.ts';
import type { Report } from './report/report.ts';
import { writeReport } from './report/write.ts';
import { policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { orUsageError } from './usage-error.ts';

/** Settings of `sallyport audit`. */
export interface AuditOptions extends SourceOptions {
  /** `undefined`: the settings of the webhook in the cluster, otherwise `standard`. */
  readonly profile: Profile | undefined;
  /** A settings file of the webhook, which replaces the profile. */
  readonly settings: string | undefined;
  /** The namespace of the webhook, whose settings apply. */
  readonly webhookNamespace: string;
  readonly output: FormatName;
  /** Restricts the report to objects of this namespace. All others are context. */
  readonly namespace: string | undefined;
  /** A JSON report of an earlier run. Its findings do not count again. */
  readonly since: string | undefined;
}

/**
 * Judges all stored objects of a cluster by the current rules, in the formats of `check`.
 *
 * @returns the exit code: 1 if admission would deny an object (with `since`: and the earlier report does not have that), otherwise 0
 * @throws UsageError for objects or reports that cannot be read
 */
export async function audit(options: AuditOptions): Promise<number> {
  const { files, cluster, namespace, output, since } = options;
  const earlier = since === undefined ? undefined : await readEarlierFindings(since, namespace);
  const source = await readSource({ files, cluster, namespace });
  const others =
    cluster === undefined ? noOthers : await orUsageError('the cluster', readOtherObjects(cluster, source, namespace));
  printNotes(permissionNotes({ ...source, forbidden: [...source.forbidden, ...others.forbidden] }));
  const documents = [...source.documents, ...others.objects.map(clusterDocument)];
  const everything = judgeAll(
    { ...source, documents },
    options.profile ?? 'standard',
    await readJudgingSettings(options),
  );
  const exemptions = new ExemptionList(today());
  const judged = exemptions.passing(withAnnotations(reportIn(namespace, everything)));
  const comparison = earlier && (() => earlier.comparison());
  const setting = {
    style: createTerminal().style,
    version: packageVersion(),
    exemptions: () => exemptions.all(),
    ...(comparison && { comparison }),
  };
  const tally = await writeReport(earlier === undefined ? judged : withBaseline(judged, earlier), {
    output,
    setting,
    progress: createProgress(process.stderr, 'objects judged'),
  });
  // The other formats have no field for it.
  if (earlier !== undefined && output !== 'text' && output !== 'json')
    process.stderr.write(`${describeComparison(earlier.comparison())}\n`);
  return tally.bySeverity.error > 0 ? 1 : 0;
}

async function* judgeAll(
  { documents, installation, bundle }: SourceObjects,
  profile: Profile,
  configured: ConfiguredJudging | undefined,
): Report {
  // Without settings, it is unknown whether they permit exemptions. These are listed in any case.
  const policy = { ...policyOf(profile, bundle), exempting: { annotations: 'permit', today: today() } } as const;
  const workspace = new Workspace(installation, policy, [], configured);
  workspace.update(documents);
  yield* reportWorkspace(workspace, [], 'error');
}
