import type { FileProblem } from '../../files/document.ts';
import { Slices } from '../../time/slices.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { reportWorkspace } from './findings.ts';
import { findingLine } from './formats/text.ts';
import type { Reported, ReportSetting } from './report.ts';

/** How to write the findings. */
interface Writing extends Pick<ReportSetting, 'style'> {
  /** Gets each result. */
  readonly look?: (reported: Reported) => void;
}

/** Returns a line for each finding. Judges the objects in slices, because the data plane of the same process serves requests meanwhile. */
export async function findingLines(
  workspace: Workspace,
  problems: readonly FileProblem[],
  { style, look = () => {} }: Writing,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const slices = new Slices();
  for (const reported of reportWorkspace(workspace, problems, 'error')) {
    look(reported);
    for (const finding of reported.findings) lines.push(findingLine(reported.file, finding, style));
    while (slices.isUsedUp) await slices.next();
  }
  return lines;
}
