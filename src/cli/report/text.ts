import { excerpt, visible } from './excerpt.ts';
import { activeFindings, counted, describeTally, nothing, type Report, type ReportedFinding, type ReportSetting, type Severity } from './report.ts';

const colours = { error: 'red', warning: 'yellow', note: 'cyan' } as const satisfies Record<Severity, string>;

/** For people: a line for each finding, the line of the file below it, and a summary at the end. */
export async function* writeText(report: Report, { style }: ReportSetting): AsyncGenerator<string> {
  let tally = nothing;
  for await (const object of report) {
    tally = counted(tally, object);
    for (const finding of activeFindings(object)) {
      const [line, caret] = finding.text === undefined ? [] : excerpt(finding.text, finding.position);
      yield `${findingLine(object.file, finding, style)}\n${line === undefined ? '' : `${style('dim', `${line}\n${caret}`)}\n`}`;
    }
  }
  yield `${describeTally(tally)}\n`;
}

/** `file:line:column: severity [rule] field: message`, a form that editors make links of. */
export function findingLine(file: string, { position: { line, column }, severity, ...finding }: ReportedFinding, style: ReportSetting['style']): string {
  return `${visible(file)}:${line}:${column}: ${style(colours[severity], severity)} [${finding.rule}] ${sentence(finding)}`;
}

/** What is wrong and where in the object. */
export function sentence({ field, message }: Pick<ReportedFinding, 'field' | 'message'>): string {
  return visible(field === '' ? message : `${field}: ${message}`);
}
