import type { JudgedFinding } from '../core/admission/judge.ts';
import { formatPath } from '../core/resources/path.ts';
import type { FileProblem, SourceDocument } from '../files/document.ts';
import type { Terminal } from './terminal.ts';
import type { Remark, Workspace } from './workspace.ts';

/** One line about one place of a file. */
export interface ReportLine {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'note';
  readonly text: string;
}

const severities: Readonly<Record<JudgedFinding['effect'], ReportLine['severity']>> = { deny: 'error', warn: 'warning', record: 'note' };
const colours = { error: 'red', warning: 'yellow', note: 'cyan' } as const;

/** Everything there is to say about the files, in the order of their lines. */
export function reportLines(workspace: Workspace, problems: readonly FileProblem[]): readonly ReportLine[] {
  const lines = [
    ...problems.map(problemLine),
    ...workspace.remarks().filter((remark) => remark.type !== 'foreign').map(remarkLine),
    ...workspace.objects().flatMap((object) => workspace.judge(object).map((finding) => findingLine(object.document, finding))),
    ...workspace.unserved().flatMap(({ document, findings }) => findings.map((finding) => findingLine(document, finding))),
  ];
  return lines.sort((one, other) => (one.file === other.file ? one.line - other.line || one.column - other.column : one.file < other.file ? -1 : 1));
}

/** Prints `file:line:column: severity [rule] field: message`, a form that editors make links of. */
export function printLines(terminal: Terminal, lines: readonly ReportLine[]): void {
  for (const { file, line, column, severity, text } of lines) {
    terminal.line(`${file}:${line}:${column}: ${terminal.style(colours[severity], severity)} ${text}`);
  }
}

/** How many lines there are of each severity: `2 errors, 1 warning`. */
export function summarise(lines: readonly ReportLine[]): string {
  const count = (severity: ReportLine['severity']): string => {
    const number = lines.filter((line) => line.severity === severity).length;
    return `${number} ${severity}${number === 1 ? '' : 's'}`;
  };
  return `${count('error')}, ${count('warning')}${lines.some((line) => line.severity === 'note') ? `, ${count('note')}` : ''}`;
}

function problemLine({ file, severity, position, message }: FileProblem): ReportLine {
  return { file, line: position?.line ?? 1, column: position?.column ?? 1, severity, text: message };
}

function remarkLine({ document, type, message }: Remark): ReportLine {
  return { file: document.file, ...document.locate([]), severity: type === 'unserved' ? 'note' : 'error', text: message };
}

function findingLine(document: SourceDocument, finding: JudgedFinding): ReportLine {
  return {
    file: document.file,
    ...document.locate(finding.path),
    severity: severities[finding.effect],
    text: `[${finding.rule}] ${formatPath(finding.path)}: ${finding.message}`,
  };
}
