import { fstatSync } from 'node:fs';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import type { Installation } from '../core/graph/inputs.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import type { Bundle } from '../core/schema/index.ts';
import type { FileProblem, SourceDocument } from '../files/document.ts';
import { streamObjects, type Item } from '../files/stream.ts';
import type { CredentialSource } from '../kubernetes/index.ts';
import type { SourceOptions } from '../sources/objects.ts';
import { printNotes, readJudgingSettings } from './evaluated.ts';
import { packageVersion } from './package-files.ts';
import { createProgress } from './progress.ts';
import { createLoneReporter } from './report/alone.ts';
import { withAnnotations } from './report/annotation.ts';
import { BaselineRecorder, readBaseline, withBaseline, type Baseline } from './report/baseline.ts';
import { reportWorkspace } from './report/findings.ts';
import { reportIn } from './report/in-namespace.ts';
import type { FormatName } from './report/formats/format-names.ts';
import type { Report, Reported, Severity } from './report/report.ts';
import { reportedProblem } from './report/reported.ts';
import { writeReport } from './report/write.ts';
import { controllerName } from './names.ts';
import { filesAmongOthers, filesOnly, policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { orUsageError } from './usage-error.ts';
import type { ConfiguredJudging } from '../workspace/workspace.ts';

/** Settings of `sallyport check`. */
export interface CheckOptions {
  /** `undefined`: the settings of the webhook in the cluster, otherwise `standard`. */
  readonly profile: Profile | undefined;
  /** The CRDs that the objects are intended for. */
  readonly bundle: Bundle;
  /**
   * Whether other objects may exist. `open`: the objects are a part of a cluster, and references may lead to other parts.
   * `closed`: there are no other objects. `alone`: each object is judged separately and not kept, in bounded memory.
   */
  readonly scope: 'open' | 'closed' | 'alone';
  readonly output: FormatName;
  /** How to treat known findings. */
  readonly baseline: { readonly type: 'none' } | { readonly type: 'read' | 'write'; readonly file: string };
  /** Restricts the report to objects of this namespace. All others are context. */
  readonly namespace: string | undefined;
  /** A cluster to overlay with the files. `undefined`: files only. */
  readonly cluster?: CredentialSource | undefined;
  /** A settings file of the webhook. Not with the scope `alone`. */
  readonly settings?: string | undefined;
  /** The namespace of the webhook in the cluster, whose settings apply. */
  readonly webhookNamespace: string;
}

/**
 * Judges the objects of files, folders and standard input (`-`) as admission would, and writes a report to standard output.
 *
 * @returns the exit code: 1 if something would be denied or cannot be read, otherwise 0
 * @throws UsageError if a baseline cannot be read or written
 */
export async function check(paths: readonly string[], options: CheckOptions): Promise<number> {
  const { output, baseline, cluster, namespace } = options;
  const { style } = createTerminal();
  const progress = createProgress(process.stderr, 'objects read');
  const recorder = new BaselineRecorder();
  const configured = await readJudgingSettings(options);
  const judging = { ...options, profile: options.profile ?? 'standard' };
  const everything =
    cluster === undefined
      ? judgeFiles(paths, { ...judging, configured: configured && byGivenBundle(configured) }, () => progress.step())
      : await judgeCluster({ files: paths, cluster, namespace }, { ...judging, configured });
  const judged = withAnnotations(reportIn(namespace, everything));
  const report = baseline.type === 'none' ? judged : withBaseline(judged, await baselineOf(baseline, recorder));
  const tally = await writeReport(report, { output, progress, setting: { style, version: packageVersion() } });
  if (baseline.type === 'write') {
    await recorder.write(baseline.file);
    process.stderr.write(`${recorder.size} findings written to ${baseline.file}\n`);
  }
  return tally.bySeverity.error > 0 ? 1 : 0;
}

/** The options name the bundle of files. */
function byGivenBundle({ settings, today }: ConfiguredJudging): ConfiguredJudging {
  return { settings: { ...settings, bundleOverrides: [] }, today };
}

interface Judging extends CheckOptions {
  readonly profile: Profile;
  readonly configured: ConfiguredJudging | undefined;
}

function judgeFiles(
  paths: readonly string[],
  { profile, bundle, scope, configured }: Judging,
  step: () => void,
): Report {
  return scopes[scope](
    eachCounted(streamObjects(paths, readStandardInput), step),
    policyOf(profile, bundle),
    configured,
  );
}

async function* readStandardInput(): AsyncGenerator<Uint8Array> {
  // Node reads a folder as an input without bytes.
  if (fstatSync(process.stdin.fd).isDirectory()) throw new Error('it is a folder; name the folder instead of -');
  yield* process.stdin as AsyncIterable<Uint8Array>;
}

/** Judges the files as a change to the cluster, or all objects of the cluster if there are no files. */
async function judgeCluster(from: SourceOptions, { profile, bundle, configured }: Judging): Promise<Report> {
  const { readObjects } = await import('../sources/objects.ts');
  const { permissionNotes } = await import('../sources/cluster-objects.ts');
  const { Workspace } = await import('../workspace/workspace.ts');
  const source = await orUsageError(
    'the source of objects',
    readObjects(from, { bundle, controllerName, scope: 'closed' }),
  );
  printNotes(permissionNotes(source));
  const workspace = new Workspace(source.installation, policyOf(profile, source.bundle), [], configured);
  workspace.update(source.documents);
  const everything = reportWorkspace(workspace, source.problems, 'error');
  return from.files.length === 0 ? each(everything) : withoutStored(everything);
}

async function* each(report: Iterable<Reported>): Report {
  yield* report;
}

/** Omits the objects of the cluster, which are only the context of those in the files. */
async function* withoutStored(report: Iterable<Reported>): Report {
  for (const object of report) if (object.type === 'problem' || object.document.isStored !== true) yield object;
}

/** The items of each piece of the input. */
type Items = AsyncIterable<Iterable<Item>>;

type JudgeItems = (items: Items, policy: AdmissionPolicy, configured: ConfiguredJudging | undefined) => Report;

const scopes: Readonly<Record<CheckOptions['scope'], JudgeItems>> = {
  open: (items, policy, configured) =>
    judgeTogether(items, policy, { installation: filesAmongOthers(policy.bundle), duplicates: 'warning', configured }),
  // A cluster has only one object of a name, so it is not clear which one the files mean.
  closed: (items, policy, configured) =>
    judgeTogether(items, policy, { installation: filesOnly(policy.bundle), duplicates: 'error', configured }),
  alone: judgeAlone,
};

interface Together {
  readonly installation: Installation;
  /** The severity of two documents that describe one object with different contents. */
  readonly duplicates: Severity;
  readonly configured: ConfiguredJudging | undefined;
}

async function* judgeTogether(
  items: Items,
  policy: AdmissionPolicy,
  { installation, duplicates, configured }: Together,
): Report {
  const documents: SourceDocument[] = [];
  const problems: FileProblem[] = [];
  for await (const piece of items) {
    for (const item of piece) {
      if (item.type === 'object') documents.push(item.document);
      else problems.push(item.problem);
    }
  }
  const { Workspace } = await import('../workspace/workspace.ts');
  const workspace = new Workspace(installation, policy, [], configured);
  workspace.update(documents);
  yield* reportWorkspace(workspace, problems, duplicates);
}

async function* judgeAlone(items: Items, policy: AdmissionPolicy): Report {
  const reportOn = createLoneReporter(policy);
  for await (const piece of items) {
    for (const item of piece) {
      const object = item.type === 'object' ? reportOn(item.document) : reportedProblem(item.problem);
      if (object !== undefined) yield object;
    }
  }
}

async function baselineOf(
  { type, file }: { readonly type: 'read' | 'write'; readonly file: string },
  recorder: BaselineRecorder,
): Promise<Baseline> {
  return type === 'write' ? recorder : readBaseline(file);
}

async function* eachCounted(items: Items, step: () => void): Items {
  for await (const piece of items) yield counted(piece, step);
}

function* counted(items: Iterable<Item>, step: () => void): Iterable<Item> {
  for (const item of items) {
    step();
    yield item;
  }
}
