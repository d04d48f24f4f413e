import { readFolder } from '../files/folder.ts';
import type { Profile } from '../core/rules/rule.ts';
import type { Bundle } from '../core/schema/index.ts';
import { printLines, reportLines, summarise, type ReportLine } from './report-findings.ts';
import { filesOnly, policyOf } from './settings.ts';
import { createTerminal } from './terminal.ts';
import { Workspace } from './workspace.ts';

/** Settings of `sallyport check`. */
export interface CheckOptions {
  readonly profile: Profile;
  /** The CRDs that the objects are meant for. */
  readonly bundle: Bundle;
}

/**
 * Judges the objects of some files, all together, as admission would, and prints a line for each finding.
 *
 * @returns the exit code: 1 where something would be denied, otherwise 0
 */
export async function check(paths: readonly string[], { profile, bundle }: CheckOptions): Promise<number> {
  const terminal = createTerminal();
  const workspace = new Workspace(filesOnly(bundle), policyOf(profile, bundle));
  const { documents, problems } = await readFolder(paths);
  workspace.update(documents);
  const lines: readonly ReportLine[] = reportLines(workspace, problems);
  printLines(terminal, lines);
  const count = workspace.size;
  terminal.line(`${count} object${count === 1 ? '' : 's'}: ${summarise(lines)}`);
  return lines.some((line) => line.severity === 'error') ? 1 : 0;
}
